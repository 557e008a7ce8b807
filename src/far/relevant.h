/*
 * relevant: the variables, locks and semaphores of a trace whose operations some reordering may
 * order differently.
 *
 * A name is *settled* when program order, fork and join put every two operations on it in order
 * that exclude each other: accesses of a variable not both reads, operations of a lock not both
 * shared, any two operations of a semaphore. Then every reordering has these operations in the
 * order of the trace, and with each of them all earlier operations of the trace that exclude it. So
 * each read sees the write that it saw, or no write where it saw none; no section can overlap one
 * that it excludes; each wait finds as many units of the semaphore as it did. The operations of a
 * settled name can be left out of the question for races, and accesses of a settled variable do not
 * race.
 *
 * In model branch this does not hold for reads: what a thread writes after it has diverged is
 * unknown, also to threads that join it. There only variables of one thread, and variables that
 * nobody writes, are settled.
 *
 * A name is *relevant* when it is not known to be settled. The test looks only at the last write
 * and the last read of a name, and whether several reads were unordered, so a settled name may be
 * called relevant.
 */
#ifndef MR_FAR_FELT_H
#define MR_FAR_FELT_H

#include "witness/witness.h"

typedef struct mr_relevant {
    uint8_t *variables; /* by variable: is it relevant? Owned */
    uint8_t *locks;     /* by lock or semaphore; owned */
} mr_relevant;

/* One pass: O(events + forks · threads), memory O(names + square of the threads). On a trace of
 * very many threads there are no clocks, and every name that two threads use is relevant. False: no
 * memory. To be freed also after a failure. */
bool mr_relevant_find(mr_relevant *relevant, const mr_trace *trace, mr_model model);
void mr_relevant_free(mr_relevant *relevant);

/* Does the event stay in the reduced trace (reduce.h)? */
bool mr_relevant_keeps(const mr_relevant *relevant, const mr_trace *trace, mr_model model,
                       uint32_t event);

#endif
