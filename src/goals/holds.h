/*
 * holds: which locks each thread holds, while a pass goes over the events of a trace. Only outermost
 * acquires and releases count. Semaphores are no locks.
 *
 * Zero-initialise, mr_holds_init → mr_holds_step for each event in the order of the trace →
 * mr_holds_free. A step costs O(locks that the thread holds).
 */
#ifndef MR_GOALS_HOLDS_H
#define MR_GOALS_HOLDS_H

#include "trace/trace.h"

typedef struct mr_hold {
    uint32_t lock, acquire; /* the event */
    bool shared;
} mr_hold;

/* What one thread holds, in the order of the acquires. */
typedef struct mr_thread_holds {
    mr_hold *items;
    size_t count, capacity;
} mr_thread_holds;

typedef struct mr_holds {
    mr_thread_holds *threads; /* one for each thread of the trace */
    uint32_t thread_count;
} mr_holds;

bool mr_holds_init(mr_holds *holds, const mr_trace *trace); /* false: no memory */
void mr_holds_free(mr_holds *holds);

/* Does the event, at which its thread holds `held`, acquire a lock for which the thread may have to
 * wait: one that it holds neither exclusively nor in the same way? A try never waits. */
static inline bool mr_holds_may_wait(const mr_trace *trace, const mr_thread_holds *held,
                                     uint32_t event)
{
    if (!mr_op_acquires(trace->op[event]) || trace->link[event] == MR_NESTED ||
        mr_trace_memory_order(trace, event) == MR_ORDER_TRY)
        return false;
    for (size_t i = 0; i < held->count; i++)
        if (held->items[i].lock == trace->operand[event] && !held->items[i].shared)
            return false;
    return true;
}

/* The event happens. False: no memory. */
bool mr_holds_step(mr_holds *holds, const mr_trace *trace, uint32_t event);

#endif
