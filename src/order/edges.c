#include "edges.h"

#include "base/assert.h"

#include <stdlib.h>

static int compare_sources(const void *one, const void *two)
{
    const mr_edge_source *x = one, *y = two;
    return (x->event > y->event) - (x->event < y->event);
}

bool mr_edges_foresee(mr_edges *edges, const mr_barrier_edges *opaque)
{
    MR_REQUIRE(!edges->sources && !edges->next_edge);
    edges->opaque = opaque;
    if (!opaque || !opaque->count)
        return true;
    edges->sources = mr_calloc(opaque->count, sizeof *edges->sources);
    if (!edges->sources)
        return false;
    for (size_t i = 0; i < opaque->count; i++)
        edges->sources[i] = (mr_edge_source){.event = opaque->items[i].from, .edges_left = 1};
    qsort(edges->sources, opaque->count, sizeof *edges->sources, compare_sources);
    edges->source_count = 1;
    for (size_t i = 1; i < opaque->count; i++) {
        mr_edge_source *last = &edges->sources[edges->source_count - 1];
        if (edges->sources[i].event == last->event)
            last->edges_left++;
        else
            edges->sources[edges->source_count++] = edges->sources[i];
    }
    return true;
}

bool mr_edges_grow(mr_edges *edges, uint32_t lock_count)
{
    void *queues = edges->queues;
    if (!mr_grow(&queues, &edges->queue_capacity, lock_count, sizeof *edges->queues))
        return false;
    edges->queues = queues;
    for (; edges->queue_count < lock_count; edges->queue_count++)
        edges->queues[edges->queue_count] = (mr_unit_queue){0};
    return true;
}

void mr_edges_free(mr_edges *edges, mr_wcp *wcp)
{
    for (size_t i = 0; i < edges->atomic_count; i++)
        mr_wcp_drop_stamp(wcp, &edges->atomics[i]);
    for (size_t i = 0; i < edges->unit_count; i++)
        mr_wcp_drop_stamp(wcp, &edges->units[i].stamp);
    for (size_t i = 0; i < edges->source_count; i++)
        mr_wcp_drop_stamp(wcp, &edges->sources[i].stamp);
    mr_map_free(&edges->atomic_numbers);
    free(edges->atomics);
    free(edges->queues);
    free(edges->units);
    free(edges->sources);
    *edges = (mr_edges){0};
}

/* ---- semaphores ---- */

bool mr_edges_post(mr_edges *edges, mr_wcp *wcp, uint32_t thread, uint32_t semaphore)
{
    uint32_t number = edges->free_unit;
    if (!number) {
        void *units = edges->units;
        if (!mr_grow(&units, &edges->unit_capacity, edges->unit_count + 1, sizeof *edges->units))
            return false;
        edges->units = units;
        edges->units[edges->unit_count++] = (mr_unit){0};
        number = (uint32_t)edges->unit_count;
    }
    mr_unit *unit = &edges->units[number - 1];
    edges->free_unit = unit->next;
    unit->next = 0;
    mr_wcp_publish(wcp, thread, &unit->stamp);
    MR_ASSERT(semaphore < edges->queue_count);
    mr_unit_queue *queue = &edges->queues[semaphore];
    *(queue->first ? &edges->units[queue->last - 1].next : &queue->first) = number;
    queue->last = number;
    return true;
}

/* The trace is valid: there is a unit. */
bool mr_edges_wait(mr_edges *edges, mr_wcp *wcp, uint32_t thread, uint32_t semaphore)
{
    MR_ASSERT(semaphore < edges->queue_count);
    mr_unit_queue *queue = &edges->queues[semaphore];
    uint32_t number = queue->first;
    MR_ASSERT(number > 0 && number <= edges->unit_count);
    mr_unit *unit = &edges->units[number - 1];
    bool done = mr_wcp_follow(wcp, thread, &unit->stamp);
    mr_wcp_drop_stamp(wcp, &unit->stamp);
    queue->first = unit->next;
    unit->next = edges->free_unit;
    edges->free_unit = number;
    return done;
}

/* ---- atomic variables ---- */

bool mr_edges_atomic_follow(const mr_edges *edges, mr_wcp *wcp, const mr_access *access)
{
    uint32_t number = MR_NONE;
    if (mr_op_reads(access->op))
        number = mr_map_get(&edges->atomic_numbers, access->variable, MR_NONE);
    return number == MR_NONE || !edges->atomics[number].time.local ||
           mr_wcp_follow(wcp, access->thread, &edges->atomics[number]);
}

bool mr_edges_atomic_publish(mr_edges *edges, mr_wcp *wcp, const mr_access *access)
{
    if (!mr_op_writes(access->op))
        return true;
    uint32_t *number = mr_map_at(&edges->atomic_numbers, access->variable, MR_NONE);
    if (!number)
        return false;
    if (*number == MR_NONE) {
        void *atomics = edges->atomics;
        if (!mr_grow(&atomics, &edges->atomic_capacity, edges->atomic_count + 1,
                     sizeof *edges->atomics))
            return false;
        edges->atomics = atomics;
        edges->atomics[edges->atomic_count] = (mr_stamp){0};
        *number = (uint32_t)edges->atomic_count++;
    }
    mr_wcp_publish(wcp, access->thread, &edges->atomics[*number]);
    return true;
}

void mr_edges_plain_write(mr_edges *edges, mr_wcp *wcp, uint32_t variable)
{
    uint32_t number = mr_map_get(&edges->atomic_numbers, variable, MR_NONE);
    if (number != MR_NONE)
        mr_wcp_drop_stamp(wcp, &edges->atomics[number]);
}

/* ---- calls that were not recorded ---- */

static mr_edge_source *find_source(const mr_edges *edges, uint32_t event)
{
    mr_edge_source key = {.event = event};
    return bsearch(&key, edges->sources, edges->source_count, sizeof key, compare_sources);
}

bool mr_edges_enter(mr_edges *edges, mr_wcp *wcp, uint32_t event, uint32_t thread)
{
    const mr_barrier_edges *opaque = edges->opaque;
    MR_ASSERT(edges->next_edge == opaque->count ||
              opaque->items[edges->next_edge].to >= event); /* none was missed */
    for (; edges->next_edge < opaque->count && opaque->items[edges->next_edge].to == event;
         edges->next_edge++) {
        mr_edge_source *source = find_source(edges, opaque->items[edges->next_edge].from);
        MR_ASSERT(source && source->event < event && source->edges_left > 0);
        if (!mr_wcp_follow(wcp, thread, &source->stamp))
            return false;
        if (!--source->edges_left)
            mr_wcp_drop_stamp(wcp, &source->stamp);
    }
    return true;
}

void mr_edges_leave(mr_edges *edges, mr_wcp *wcp, uint32_t event, uint32_t thread)
{
    MR_ASSERT(edges->next_source == edges->source_count ||
              edges->sources[edges->next_source].event >= event); /* none was missed */
    if (edges->next_source < edges->source_count &&
        edges->sources[edges->next_source].event == event)
        mr_wcp_publish(wcp, thread, &edges->sources[edges->next_source++].stamp);
}
