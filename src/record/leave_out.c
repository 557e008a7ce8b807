#include "leave_out.h"

#include "exclude/choose.h"
#include "exclude/exclude.h"
#include "trace/stacks.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Does the pattern match this part of a frame's name? */
static bool matches(const char *pattern, const char *text, uint32_t length, bool *failed)
{
    char *copy = mr_strndup(text, length);
    bool match = copy && length && fnmatch(pattern, copy, 0) == 0;
    *failed = *failed || !copy;
    free(copy);
    return match;
}

/* Chooses the locations of events whose innermost frame matches. False: no memory. */
static bool choose_frames(const mr_trace *trace, const char *pattern, bool *chosen)
{
    bool failed = false, *frames = mr_calloc(trace->frames.count + 1ull, sizeof *frames);
    if (!frames)
        return false;
    for (uint32_t i = 0; i < trace->frames.count; i++) {
        mr_frame frame = mr_frame_of(&trace->frames.items[i]);
        frames[i] = matches(pattern, frame.function, frame.function_length, &failed) ||
                    matches(pattern, frame.place, frame.place_length, &failed);
    }
    for (uint32_t event = 0; event < trace->event_count; event++) {
        uint32_t stack = mr_trace_stack(trace, event);
        if (stack && frames[trace->stacks[stack].frame])
            chosen[trace->location[event]] = true;
    }
    free(frames);
    return !failed;
}

static mr_status choose(const mr_trace *trace, const char *patterns, bool *chosen, mr_error *error)
{
    for (const char *at = patterns; *at;) {
        size_t length = strcspn(at, ",");
        char *pattern = mr_strndup(at, length);
        bool ok = pattern != NULL;
        if (ok && length) {
            mr_choose_pattern(trace, pattern, chosen);
            ok = choose_frames(trace, pattern, chosen);
        }
        free(pattern);
        if (!ok)
            return mr_error_memory(error, "leaving out events");
        at += length + (at[length] != '\0');
    }
    return MR_OK;
}

mr_status mr_record_leave_out(const mr_trace *trace, const char *patterns, mr_trace **rest,
                              mr_error *error)
{
    bool *chosen = mr_calloc(trace->locations.count + 1ull, sizeof *chosen);
    *rest = NULL;
    if (!chosen)
        return mr_error_memory(error, "leaving out events");
    mr_exclude_options options = {.chosen = chosen};
    mr_status status = choose(trace, patterns, chosen, error);
    if (!status)
        status = mr_exclude(trace, &options, rest, NULL, error);
    free(chosen);
    return status;
}
