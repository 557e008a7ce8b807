#include "stacks.h"

mr_frame mr_frame_of(const mr_name *name)
{
    const char *end = name->text + name->length;
    const char *first = memchr(name->text, '\t', name->length);
    if (!first)
        return (mr_frame){.function = name->text, .function_length = name->length, .place = end};
    const char *place = first + 1;
    const char *second = memchr(place, '\t', (size_t)(end - place));
    const char *place_end = second ? second : end;
    return (mr_frame){.function = name->text,
                      .function_length = (uint32_t)(first - name->text),
                      .place = place,
                      .place_length = (uint32_t)(place_end - place),
                      .inlined = second != NULL};
}
