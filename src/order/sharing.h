/*
 * sharing: which variables and locks can order or race events of different threads at all, found in
 * one pass before an order is computed. O(events) time, one byte a variable and a lock.
 */
#ifndef MR_ORDER_SHARING_H
#define MR_ORDER_SHARING_H

#include "trace/trace.h"

typedef struct mr_sharing {
    bool *variable_contended; /* accessed by two threads or more, and written */
    bool *lock_shared;        /* acquired by two threads or more */
} mr_sharing;

/* False: no memory (mr_sharing_free is still fine). */
bool mr_sharing_find(mr_sharing *sharing, const mr_trace *trace);
void mr_sharing_free(mr_sharing *sharing);

/* Is the event an acquire or a release that synchronises: outermost, of a lock of several threads?
 */
static inline bool mr_sharing_synchronises(const mr_sharing *sharing, const mr_trace *trace,
                                           uint32_t event)
{
    return trace->link[event] != MR_NESTED && sharing->lock_shared[trace->operand[event]];
}

#endif
