#include "cp_walk.h"

#include <stdlib.h>

bool mr_cp_walk_init(mr_cp_walk *walk, mr_cp_graph *graph)
{
    uint32_t threads = graph->trace->threads.count;
    *walk = (mr_cp_walk){.graph = graph};
    walk->local = mr_calloc(threads, sizeof(uint32_t));
    walk->segment = mr_calloc(threads, sizeof(uint32_t));
    walk->hard = mr_calloc(threads, sizeof(mr_clock *));
    walk->known = mr_calloc(threads, sizeof(mr_clock *));
    walk->stale = mr_calloc(threads, sizeof(bool));
    if (!walk->local || !walk->segment || !walk->hard || !walk->known || !walk->stale)
        return false;
    for (uint32_t thread = 0; thread < threads; thread++) {
        walk->local[thread] = 1;
        walk->segment[thread] = MR_NONE;
    }
    return true;
}

void mr_cp_walk_free(mr_cp_walk *walk)
{
    uint32_t threads = walk->graph->trace->threads.count;
    for (uint32_t thread = 0; thread < threads; thread++) {
        if (walk->hard)
            mr_clock_drop(&walk->graph->pool, &walk->hard[thread]);
        if (walk->known)
            mr_clock_drop(&walk->graph->pool, &walk->known[thread]);
    }
    free(walk->local);
    free(walk->segment);
    free(walk->hard);
    free(walk->known);
    free(walk->stale);
    *walk = (mr_cp_walk){0};
}

/* As the graph was built: the next segment is the thread's. */
static void begin_segment(mr_cp_walk *walk, uint32_t thread)
{
    walk->segment[thread] = walk->segment_count++;
    walk->stale[thread] = true;
}

/* K along a fork or join. */
static bool hard_edge(mr_cp_walk *walk, uint32_t from, uint32_t to)
{
    mr_time hard = {walk->hard[from], from, walk->local[from]};
    begin_segment(walk, to);
    return mr_clock_learn(&walk->graph->pool, &walk->hard[to], hard);
}

bool mr_cp_walk_step(mr_cp_walk *walk, uint32_t event)
{
    const mr_trace *trace = walk->graph->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    if (walk->segment[thread] == MR_NONE)
        begin_segment(walk, thread);
    switch (trace->op[event]) {
    case MR_OP_ACQUIRE:
        if (mr_sharing_synchronises(&walk->graph->sharing, trace, event))
            begin_segment(walk, thread);
        return true;
    case MR_OP_RELEASE:
        if (mr_sharing_synchronises(&walk->graph->sharing, trace, event))
            walk->local[thread]++;
        return true;
    case MR_OP_FORK:
        if (!hard_edge(walk, thread, operand))
            return false;
        walk->local[thread]++;
        return true;
    case MR_OP_JOIN:
        return hard_edge(walk, operand, thread);
    default:
        return true;
    }
}

bool mr_cp_walk_known(mr_cp_walk *walk, uint32_t thread, const mr_clock **known)
{
    mr_clock_pool *pool = &walk->graph->pool;
    if (walk->stale[thread]) {
        mr_clock *before = walk->graph->segments[walk->segment[thread]].before;
        mr_clock_set(pool, &walk->known[thread], before);
        mr_time hard = {.clock = walk->hard[thread]};
        if (!mr_clock_join(pool, &walk->known[thread], hard))
            return false;
        walk->stale[thread] = false;
    }
    *known = walk->known[thread];
    return true;
}
