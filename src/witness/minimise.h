/*
 * minimise: the same evidence with less to read.
 *
 * 1. Events that the race does not need are left out. Needed are the events of the two threads
 * before the accesses, and with an event: the one before it in its thread; the fork of its thread;
 * for a join the last event of the joined thread; for a read the write that it sees in the witness;
 * for an acquire the release of every needed critical section of the lock that comes before it. The
 * rest can go, and what is left is a reordering: no read loses its write or gets another one.
 * 2. Thread switches are saved: events that depend on each other (same thread, fork/join, same
 * lock, conflicting accesses) keep their order, and within that freedom a thread runs on as long as
 * it can.
 *
 * O(n log n) for n events, and O(n) for each round of releases that make further sections needed.
 * Does not lengthen the witness nor add switches: the running thread of the old order is always one
 * that may run. The result is to be checked like any witness.
 */
#ifndef MR_WITNESS_MINIMISE_H
#define MR_WITNESS_MINIMISE_H

#include "witness.h"

/* Replaces witness->events. On MR_ERR_MEMORY the witness is left as it was. */
mr_status mr_witness_minimise(const mr_trace *trace, mr_witness *witness, mr_error *error);

/* Number of times that the running thread changes in the witness, the accesses not counted. */
uint32_t mr_witness_switches(const mr_trace *trace, const mr_witness *witness);

#endif
