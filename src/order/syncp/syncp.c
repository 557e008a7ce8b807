#include "syncp_index.h"
#include "syncp_pass.h"
#include "syncp_search.h"

mr_status mr_syncp_find(const mr_trace *trace, const mr_detect_options *options, mr_race_list *list,
                        mr_syncp_index **index, mr_error *error)
{
    mr_syncp_ideals ideals = {0};
    mr_syncp_search search = {0};
    mr_syncp_pass pass = {
        .trace = trace,
        .outlook = options->outlook,
        .opaque = options->opaque,
        .edges = options->edges,
        .progress = options->progress,
        .halt = options->halt,
        .access = mr_syncp_search_access,
        .wanted = options->wanted,
        .context = &search,
        .seen = &list->seen_events,
    };
    mr_race_list_init(list, options->most_examples, options->keep_events);
    if (index)
        *index = NULL;
    mr_status status = MR_ERR_MEMORY;
    if (mr_syncp_ideals_init(&ideals, trace) &&
        mr_syncp_search_init(&search, trace, &ideals, options->wanted, list))
        status = mr_syncp_run(&pass, &ideals, error);
    else
        mr_error_memory(error, "looking for sync-preserving races");
    mr_syncp_search_free(&search);
    if ((status == MR_OK || status == MR_ERR_HALTED) && !mr_race_list_finish(list))
        status = mr_error_memory(error, "sorting sync-preserving races");
    if (status == MR_OK && index && !(*index = mr_syncp_index_of(trace, &ideals)))
        status = mr_error_memory(error, "indexing a trace for sync-preserving races");
    mr_syncp_ideals_free(&ideals);
    return status;
}
