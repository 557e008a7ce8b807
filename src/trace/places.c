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

/* Sets `stacks`: does the pattern match the innermost frame of the stack, or the innermost one of the program
 * itself? False: no memory. */
static bool match_stacks(const mr_trace *trace, const char *pattern, bool *stacks)
{
    enum { MATCHES = 1, OWN = 2 };
    bool failed = false;
    uint8_t *frames = mr_calloc(trace->frames.count + 1ull, sizeof *frames);
    bool *callers = mr_calloc(trace->stack_count + 1ull, sizeof *callers);
    for (uint32_t i = 0; frames && i < trace->frames.count; i++) {
        mr_frame frame = mr_frame_of(&trace->frames.items[i]);
        if (matches_part(pattern, frame.function, frame.function_length, &failed) ||
            matches_part(pattern, frame.place, frame.place_length, &failed))
            frames[i] |= MATCHES;
        if (mr_frame_is_own(&frame))
            frames[i] |= OWN;
    }
    /* A caller is older than what it has called. `callers`: its innermost frame of the program matches. */
    for (uint32_t i = 1; frames && callers && i < trace->stack_count; i++) {
        uint8_t frame = frames[trace->stacks[i].frame];
        callers[i] = frame & OWN ? frame & MATCHES : callers[trace->stacks[i].caller];
        stacks[i] = frame & MATCHES || callers[i];
    }
    bool ok = frames && callers && !failed;
    free(frames);
    free(callers);
    return ok;
}

static bool match_frames(const mr_trace *trace, const char *pattern, bool *chosen, bool *matches)
{
    bool *stacks = mr_calloc(trace->stack_count + 1ull, sizeof *stacks);
    bool ok = stacks && match_stacks(trace, pattern, stacks);
    for (uint32_t event = 0; ok && event < trace->event_count; event++)
        if (stacks[mr_trace_stack(trace, event)])
            *matches = chosen[trace->location[event]] = true;
    free(stacks);
    return ok;
}

/* Does the pattern match the text of a location, or the place in the program that it names? */
static bool matches_location(const char *pattern, const char *text)
{
    return matches_text(pattern, text) ||
           (text && matches_text(pattern, text + mr_location_own_at(text, strlen(text))));
}

mr_status mr_places_match(const mr_trace *trace, const char *pattern, bool *chosen, bool *matches,
                          mr_error *error)
{
    *matches = false;
    for (uint32_t i = 0; i < trace->locations.count; i++) {
        const mr_name *name = &trace->locations.items[i];
        if (matches_location(pattern, name->text) || matches_location(pattern, name->display))
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
