#include "places.h"

#include "stacks.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static bool matches_text(const char *pattern, const char *text)
{
    return text && (strcmp(pattern, text) == 0 || fnmatch(pattern, text, 0) == 0);
}

/* Does the pattern match this part of a frame's name? */
static bool matches_part(const char *pattern, const char *text, uint32_t length, bool *failed)
{
    char *copy = mr_strndup(text, length);
    bool match = length && matches_text(pattern, copy);
    *failed = *failed || !copy;
    free(copy);
    return match;
}

static bool match_frames(const mr_trace *trace, const char *pattern, bool *chosen, bool *matches)
{
    bool failed = false, any = false,
         *frames = mr_calloc(trace->frames.count + 1ull, sizeof *frames);
    if (!frames)
        return false;
    for (uint32_t i = 0; i < trace->frames.count; i++) {
        mr_frame frame = mr_frame_of(&trace->frames.items[i]);
        frames[i] = matches_part(pattern, frame.function, frame.function_length, &failed) ||
                    matches_part(pattern, frame.place, frame.place_length, &failed);
        any = any || frames[i];
    }
    for (uint32_t event = 0; any && event < trace->event_count; event++) {
        uint32_t stack = mr_trace_stack(trace, event);
        if (stack && frames[trace->stacks[stack].frame])
            *matches = chosen[trace->location[event]] = true;
    }
    free(frames);
    return !failed;
}

mr_status mr_places_match(const mr_trace *trace, const char *pattern, bool *chosen, bool *matches,
                          mr_error *error)
{
    *matches = false;
    for (uint32_t i = 0; i < trace->locations.count; i++) {
        const mr_name *name = &trace->locations.items[i];
        if (matches_text(pattern, name->text) || matches_text(pattern, name->display))
            *matches = chosen[i] = true;
    }
    return match_frames(trace, pattern, chosen, matches)
               ? MR_OK
               : mr_error_memory(error, "matching the names of places");
}

mr_status mr_places_match_list(const mr_trace *trace, const char *patterns, bool *chosen,
                               mr_places_unmatched *tell, void *context, mr_error *error)
{
    mr_status status = MR_OK;
    for (const char *at = patterns; *at && !status;) {
        size_t length = strcspn(at, ",");
        bool matches = true;
        char *pattern = mr_strndup(at, length);
        if (!pattern)
            return mr_error_memory(error, "matching the names of places");
        if (length)
            status = mr_places_match(trace, pattern, chosen, &matches, error);
        if (!status && !matches && tell)
            tell(pattern, context);
        free(pattern);
        at += length + (at[length] != '\0');
    }
    return status;
}
