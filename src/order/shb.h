/*
 * shb: schedulable happens-before races of a whole trace (Mathur, Kini, Viswanathan, OOPSLA 2018,
 * Algorithm 2). Every pair reported is a race: SHB is happens-before plus an edge from each write
 * to the reads that see it, and a conflicting pair (e1, e2) is reported when e1 is not SHB-before
 * the predecessor of e2 in its thread, or the fork of the thread when e2 is its first event
 * (Theorem 3.3): what the thread knew before e2.
 *
 * Streaming, O(events * threads) time at worst; a write publishes the clock of its thread.
 */
#ifndef MR_ORDER_SHB_H
#define MR_ORDER_SHB_H

#include "trace/trace.h"

typedef struct mr_shb_race {
    uint32_t first, second; /* events, first before second in the trace */
} mr_shb_race;

typedef struct mr_shb_races {
    mr_shb_race *items; /* one example per static race (unordered pair of locations), in the order
                           of `second`; the example has the latest possible `first` */
    size_t count, capacity;
} mr_shb_races;

/* The static races as mr_detect finds them, in short. Fills `races` (zero-initialised by the
 * caller, freed with mr_shb_races_free). */
mr_status mr_shb_find(const mr_trace *trace, mr_shb_races *races, mr_error *error);
void mr_shb_races_free(mr_shb_races *races);

#endif
