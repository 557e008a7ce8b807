/*
 * events: a run of consecutive events in columns, on loan: what a stream gives block by block, what
 * a trace in memory is as a whole, and what the whole-trace orders take. Row i of each column
 * belongs to event `first` + i; the numbers mean what they mean in trace.h.
 */
#ifndef MR_TRACE_EVENTS_H
#define MR_TRACE_EVENTS_H

#include "trace.h"

typedef struct mr_events {
    uint64_t first;
    uint32_t count;
    const uint8_t *op;
    const uint32_t *thread, *operand, *location;
    /* every number in the columns, this run's and those before, is smaller than these */
    uint32_t thread_count, variable_count, lock_count, location_count, object_count;
    /* which variables belong to objects: what was told since the run before, and whether that is
     * known */
    const mr_membership *members;
    uint32_t member_count;
    bool knows_members;
    const uint8_t *memory_order; /* NULL: not known here, or every event is sc */
} mr_events;

/* The events [first, first + count) of a trace in memory. */
static inline mr_events mr_events_of_trace(const mr_trace *trace, uint32_t first, uint32_t count)
{
    return (mr_events){
        .first = first,
        .count = count,
        .op = trace->op + first,
        .thread = trace->thread + first,
        .operand = trace->operand + first,
        .location = trace->location + first,
        .thread_count = trace->threads.count,
        .variable_count = trace->variables.count,
        .lock_count = trace->locks.count,
        .location_count = trace->locations.count,
        .object_count = trace->objects.count,
        .members = trace->members.items,
        .member_count = first ? 0 : trace->members.count,
        .knows_members = true,
        .memory_order = trace->memory_order ? trace->memory_order + first : NULL,
    };
}

#endif
