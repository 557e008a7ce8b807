/*
 * relevant: which variables, locks and semaphores of a trace can any reordering feel?
 *
 * A name is *settled* when program order, fork and join put every two operations on it in order
 * that exclude each other: accesses of a variable not both reads, operations of a lock not both
 * shared, any two operations of a semaphore. Then every reordering has these operations in the
 * order of the trace, and with each of them all that were before it in the trace and exclude it. So
 * each read sees the write that it saw, or none where it saw none; no section can overlap one that
 * it excludes; each wait finds as many units as it did. The operations of a settled name can be
 * left out of the question for races, and accesses of a settled variable do not race.
 *
 * In model branch this is not so for reads: what a thread writes after it has diverged is unknown,
 * also to those that join it. There only variables of one thread, or never written, are settled.
 *
 * Felt is what is not known to be settled: the test looks at the last write and at the last read of
 * a name, or at the fact that there were several unordered ones, so it may call settled names relevant.
 */
#ifndef MR_FAR_FELT_H
#define MR_FAR_FELT_H

#include "witness/witness.h"

typedef struct mr_relevant {
    uint8_t *variables; /* one a variable, true: relevant; owned */
    uint8_t *locks;     /* one a lock or semaphore; owned */
} mr_relevant;

/* One pass: O(events + forks · threads), memory O(names + square of the threads). Traces of very
 * many threads have no clocks: what two threads use is relevant. False: no memory. To be freed also
 * after a failure. */
bool mr_relevant_find(mr_relevant *relevant, const mr_trace *trace, mr_model model);
void mr_relevant_free(mr_relevant *relevant);

/* Does the event stay when what no reordering can feel is left out (reduce.h)? */
bool mr_relevant_keeps(const mr_relevant *relevant, const mr_trace *trace, mr_model model,
                       uint32_t event);

#endif
