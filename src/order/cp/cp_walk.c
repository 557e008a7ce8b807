#include "cp_walk.h"

#include "base/assert.h"

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
    walk->source_hard = mr_calloc(graph->source_count, sizeof(mr_clock *));
    if (!walk->source_hard || !walk->local || !walk->segment || !walk->hard || !walk->known ||
        !walk->stale)
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
    for (size_t i = 0; i < walk->source_count; i++)
        mr_clock_drop(&walk->graph->pool, &walk->source_hard[i]);
    free(walk->source_hard);
    free(walk->stale);
    *walk = (mr_cp_walk){0};
}

/* Segments begin in the order of the graph, so the next one is the thread's. */
static void begin_segment(mr_cp_walk *walk, uint32_t thread)
{
    MR_ASSERT(walk->segment_count < walk->graph->segment_count &&
              walk->graph->segments[walk->segment_count].thread == thread);
    walk->segment[thread] = walk->segment_count++;
    walk->stale[thread] = true;
}

/* K flows along a fork or join. */
static bool hard_edge(mr_cp_walk *walk, uint32_t from, uint32_t to)
{
    mr_time hard = {walk->hard[from], from, walk->local[from]};
    begin_segment(walk, to);
    return mr_clock_learn(&walk->graph->pool, &walk->hard[to], hard);
}

/* K flows along an edge of edges.h. */
static bool follow(void *context, uint32_t event, uint32_t from)
{
    mr_cp_walk *walk = context;
    const mr_cp_graph *graph = walk->graph;
    uint32_t thread = graph->trace->thread[event];
    uint32_t number = mr_map_get(&graph->source_numbers, from, MR_NONE);
    MR_ASSERT(number < walk->source_count);
    const mr_time *time = &graph->sources[number].time;
    MR_ASSERT(time->local < walk->local[time->thread]);
    mr_time hard = {walk->source_hard[number], time->thread, time->local};
    begin_segment(walk, thread);
    return mr_clock_learn(&walk->graph->pool, &walk->hard[thread], hard);
}

static void synchronise(mr_cp_walk *walk, uint32_t event)
{
    const mr_whole *whole = walk->graph->whole;
    uint32_t thread = whole->trace->thread[event], lock = mr_whole_first_lock(whole, event);
    uint8_t op = whole->trace->op[event];
    for (; lock != MR_NONE; lock = mr_whole_next_lock(whole, event, lock)) {
        if (mr_op_releases(op))
            walk->local[thread]++;
        else
            begin_segment(walk, thread);
    }
}

bool mr_cp_walk_step(mr_cp_walk *walk, uint32_t event)
{
    const mr_trace *trace = walk->graph->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    if (walk->segment[thread] == MR_NONE)
        begin_segment(walk, thread);
    if (!mr_cp_edges_into(walk->graph, &walk->next_edge, event, follow, walk))
        return false;
    switch ((mr_op)trace->op[event]) {
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        if (mr_cp_synchronises(walk->graph, event))
            synchronise(walk, event);
        return true;
    case MR_OP_FORK:
        if (!hard_edge(walk, thread, operand))
            return false;
        walk->local[thread]++;
        return true;
    case MR_OP_JOIN:
        return hard_edge(walk, operand, thread);
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_WAIT:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break; /* their edges are those that mr_cp_edges_into follows */
    }
    return true;
}

bool mr_cp_walk_leave(mr_cp_walk *walk, uint32_t event)
{
    uint32_t thread = walk->graph->trace->thread[event];
    uint32_t write = mr_whole_atomic_source(walk->graph->whole, event);
    if (write != MR_NONE && !follow(walk, event, write))
        return false;
    if (mr_whole_is_followed(walk->graph->whole, event)) {
        MR_ASSERT(walk->source_count < walk->graph->source_count &&
                  walk->graph->sources[walk->source_count].time.local == walk->local[thread]);
        walk->source_hard[walk->source_count++] = mr_clock_share(walk->hard[thread]);
        walk->local[thread]++;
    }
    return true;
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
