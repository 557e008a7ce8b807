/*
 * hb: happens-before (Lamport 1978) by vector clocks, one event at a time.
 *
 * The smallest partial order that contains
 *   - the order of the events of each thread;
 *   - fork(u) → the events of u, and every join(u), even when u did nothing;
 *   - the events of u → every join(u);
 *   - release → every later acquire of the same lock. Inner acquires and releases of a lock that
 *     its thread holds already are no synchronisation; locks of one thread alone cost nothing.
 *
 * Operations other than acq, rel, fork and join change nothing here; a trace with operations that
 * no analysis covers is refused earlier (mr_trace_require_covered).
 *
 *   mr_hb_init → mr_hb_step(0), mr_hb_step(1), … → mr_hb_free
 *
 * A step costs O(threads) at acq, fork and join when they bring news, else O(1).
 */
#ifndef MR_ORDER_HB_H
#define MR_ORDER_HB_H

#include "clock.h"
#include "sharing.h"

typedef struct mr_hb {
    const mr_trace *trace;
    mr_sharing sharing;
    mr_clock_pool pool;
    mr_clock **clock; /* by thread: what happened before its last event */
    uint32_t *local;  /* by thread: local time of its next event */
    mr_time *release; /* by lock: time of its last release */
} mr_hb;

/* False: no memory (mr_hb_free is still fine). */
bool mr_hb_init(mr_hb *hb, const mr_trace *trace);
void mr_hb_free(mr_hb *hb);

/* The time of the last event of `thread` and of all before it, as a loan. */
static inline mr_time mr_hb_now(const mr_hb *hb, uint32_t thread)
{
    return (mr_time){hb->clock[thread], thread, hb->local[thread]};
}

/* Feeds the event; afterwards clock[its thread] is the event's clock, while its local time is the
 * value that local[its thread] had before the step. False: no memory. */
bool mr_hb_step(mr_hb *hb, uint32_t event);

#endif
