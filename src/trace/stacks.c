#include "stacks.h"

#include <string.h>

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

bool mr_frame_is_own(const mr_frame *frame)
{
    static const char libraries[] = "/usr/";
    size_t length = sizeof libraries - 1;
    return memchr(frame->place, ':', frame->place_length) &&
           (frame->place_length < length || memcmp(frame->place, libraries, length) != 0);
}

mr_frame mr_stack_own_frame(const mr_trace *trace, uint32_t stack)
{
    mr_frame innermost = mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]);
    for (; stack; stack = trace->stacks[stack].caller) {
        mr_frame frame = mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]);
        if (mr_frame_is_own(&frame))
            return frame;
    }
    return innermost;
}

size_t mr_location_own_at(const char *text, size_t length)
{
    for (size_t at = length; at > 3; at--)
        if (memcmp(text + at - 3, " < ", 3) == 0)
            return memchr(text + at, ':', length - at) ? at : 0;
    return 0;
}
