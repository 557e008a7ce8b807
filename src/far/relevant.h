/*
 * relevant: the variables, locks and semaphores of a trace whose operations a reordering may order
 * differently.
 *
 * Two operations on a name *exclude* each other when they are accesses of a variable and not both
 * reads, operations of a lock and not both shared, or any operations of a semaphore. A free excludes
 * the accesses of its object. A name is
 * *fixed* when program order, fork and join order every two of its operations that exclude each
 * other.
 *
 * Every reordering has the operations of a fixed name in trace order, and with each operation all
 * earlier ones that exclude it. So each read sees the write that it saw, or no write where it saw
 * none. No section overlaps one that it excludes. Each wait finds as many units of the semaphore as
 * it did. No access of a fixed variable comes after the free of its object that did not in the
 * trace. So the operations of a fixed name can be left out when races are decided, and accesses of a
 * fixed variable do not race. A free that is ordered with all accesses of its object can be left
 * out, too; an alloc stays as a mark where an edge leads to it (reduce.h).
 *
 * In model branch this does not hold for reads: after a thread has diverged, the values that it
 * writes are unknown, also to threads that join it. There a variable is fixed only when one thread
 * uses it or no thread writes it.
 *
 * A name is *relevant* when it is not known to be fixed. The test looks only at the last write and
 * the last read of a name, and at whether earlier reads were unordered. So it may call a fixed name
 * relevant.
 */
#ifndef MR_FAR_RELEVANT_H
#define MR_FAR_RELEVANT_H

#include "witness/witness.h"

typedef struct mr_relevant {
    uint8_t *variables; /* by variable: is it relevant? Owned */
    uint8_t *locks;     /* by lock or semaphore; owned */
    uint8_t *objects;   /* by object: is its free? Owned */
} mr_relevant;

/* Finds the relevant names in one pass. O(events + forks · chains of threads); memory O(names +
 * square of the chains). On a trace with more than 2,048 chains (trace/chains.h) there are no clocks,
 * and every name that two threads use is relevant. False: no memory. To be freed also after a
 * failure. */
bool mr_relevant_find(mr_relevant *relevant, const mr_trace *trace, mr_model model);
void mr_relevant_free(mr_relevant *relevant);

/* Does the reduced trace keep the event (reduce.h)? Marks do not count. */
bool mr_relevant_keeps(const mr_relevant *relevant, const mr_trace *trace, mr_model model,
                       uint32_t event);

#endif
