#include "cp.h"

#include "cp_races.h"
#include "cp_walk.h"

static bool report_access(mr_cp_walk *walk, mr_cp_races *races, uint32_t event)
{
    uint32_t thread = walk->graph->trace->thread[event];
    const mr_clock *clock = NULL;
    return mr_cp_walk_known(walk, thread, &clock) &&
           mr_cp_races_add(races, event, clock, walk->local[thread]);
}

static bool report_all(mr_cp_walk *walk, mr_cp_races *races, const mr_progress *progress)
{
    const mr_trace *trace = walk->graph->trace;
    const bool *contended = walk->graph->sharing.variable_contended;
    uint64_t count = trace->event_count;
    for (uint32_t event = 0; event < count; event++) {
        if (event % MR_CP_PROGRESS_EVENTS == 0)
            mr_progress_tell(progress, "cp", count + event, 2 * count);
        if (!mr_cp_walk_step(walk, event) ||
            (mr_op_is_access(trace->op[event]) && contended[trace->operand[event]] &&
             !report_access(walk, races, event)))
            return false;
    }
    return true;
}

static bool report(mr_cp_graph *graph, mr_race_list *list, const mr_progress *progress)
{
    mr_cp_walk walk;
    mr_cp_races races = {0};
    bool done = mr_cp_walk_init(&walk, graph) && mr_cp_races_init(&races, graph->trace, list) &&
                report_all(&walk, &races, progress) && mr_race_list_finish(list);
    mr_cp_races_free(&races);
    mr_cp_walk_free(&walk);
    return done;
}

mr_status mr_cp_find(const mr_trace *trace, const mr_detect_options *options, mr_race_list *list,
                     mr_error *error)
{
    mr_cp_graph graph;
    mr_race_list_init(list, options->most_examples, options->keep_events);
    bool done = mr_cp_graph_init(&graph, trace) && mr_cp_graph_build(&graph, options->progress) &&
                mr_cp_graph_solve(&graph) && report(&graph, list, options->progress);
    mr_cp_graph_free(&graph);
    return done ? MR_OK : mr_error_memory(error, "finding CP races");
}
