#include "leave_out.h"

#include "exclude/exclude.h"

#include <stdlib.h>

mr_status mr_record_leave_out(const mr_trace *trace, const char *patterns,
                              mr_places_unmatched *tell, void *context, mr_trace **rest,
                              mr_error *error)
{
    bool *chosen = mr_calloc(trace->locations.count + 1ull, sizeof *chosen);
    *rest = NULL;
    if (!chosen)
        return mr_error_memory(error, "leaving out events");
    mr_exclude_options options = {.chosen = chosen};
    mr_status status = mr_places_match_list(trace, patterns, chosen, tell, context, error);
    if (!status)
        status = mr_exclude(trace, &options, rest, NULL, error);
    free(chosen);
    return status;
}
