#include "life_edges.h"

#include "base/assert.h"
#include "base/keys.h"

#include <stdlib.h>

/* The object that the event accesses or frees, or MR_NONE. */
static uint32_t object_of(const mr_trace *trace, uint32_t event)
{
    uint8_t op = trace->op[event];
    if (mr_op_is_access(op))
        return mr_trace_object(trace, trace->operand[event]);
    return mr_op_ends_life(op) ? trace->operand[event] : MR_NONE;
}

static bool push(mr_barrier_edges *edges, uint32_t from, uint32_t to)
{
    void *items = edges->items;
    if (!mr_grow(&items, &edges->capacity, edges->count + 1, sizeof *edges->items))
        return false;
    edges->items = items;
    edges->items[edges->count++] = (mr_edge){from, to};
    return true;
}

static bool find(const mr_trace *trace, mr_barrier_edges *edges)
{
    mr_keys users = {0}; /* (object, thread) */
    bool ok = true;
    for (uint32_t event = mr_trace_present(trace, 0); ok && event < trace->event_count;
         event = mr_trace_present(trace, event + 1)) {
        mr_trace_pass(trace, event);
        uint32_t object = object_of(trace, event), thread = trace->thread[event], number;
        uint32_t alloc = object != MR_NONE ? trace->object_info[object].alloc : MR_NONE;
        if (alloc == MR_NONE || trace->thread[alloc] == thread)
            continue;
        MR_ASSERT(alloc < event); /* the trace is valid */
        uint32_t known = users.count;
        ok = mr_keys_add(&users, (uint64_t)object << 32 | thread, &number) &&
             (number <= known || push(edges, alloc, event));
    }
    mr_keys_free(&users);
    return ok;
}

/* Puts the edges of `more` among those of `edges`, from the end. */
static bool merge(mr_barrier_edges *edges, const mr_barrier_edges *more)
{
    size_t left = edges->count, right = more->count, at = left + right;
    void *items = edges->items;
    if (!mr_grow(&items, &edges->capacity, at, sizeof *edges->items))
        return false;
    edges->items = items;
    edges->count = at;
    while (right) {
        bool is_later = left && edges->items[left - 1].to > more->items[right - 1].to;
        edges->items[--at] = is_later ? edges->items[--left] : more->items[--right];
    }
    return true;
}

bool mr_life_edges_add(const mr_trace *trace, mr_barrier_edges *edges)
{
    mr_barrier_edges own = {0};
    if (!mr_op_total(trace->op_counts, MR_STARTS_LIFE))
        return true;
    bool ok = find(trace, &own) && (!own.count || merge(edges, &own));
    mr_barrier_edges_free(&own);
    return ok;
}
