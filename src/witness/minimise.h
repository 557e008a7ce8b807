/*
 * minimise: the same evidence with less to read.
 *
 * 1. Events that the race does not need are left out. Needed are the events of the two threads
 * before the accesses, and with an event: the one before it in its thread; the fork of its thread;
 * for a join the last event of the joined thread; for a read the write that it sees in the witness;
 * for an acquire the release of every needed critical section of the lock that comes before it and
 * excludes its own; for a wait the post whose unit it takes; and, also for the accesses, what
 * opaque calls and allocs put before it. The rest can go, and what is left is a reordering: no read loses its
 * write or gets another one (so that in the model branch a thread diverges where it did), and every
 * wait has a unit of its own.
 * 2. Thread switches are saved: events that depend on each other (same thread, fork/join, same lock
 * unless both are shared, same semaphore, conflicting accesses, opaque calls, the life of an
 * object) keep their order, and within that freedom a thread runs on as long as it can.
 *
 * Which post a wait needs depends on the events that are left. So where there are waits, both steps
 * are repeated as long as the witness gets shorter.
 *
 * A witness of more than MR_MINIMISE_MOST events is left as it is. Nobody reads it event by event,
 * and in the order of the trace it is printed as a few runs of consecutive events, which both steps
 * would break up.
 *
 * O(n log n) for n events, and O(n) for each round of releases that make further sections needed.
 * Does not lengthen the witness nor add switches: the running thread of the old order is always one
 * that may run. The result is to be checked like any witness.
 */
#ifndef MR_WITNESS_MINIMISE_H
#define MR_WITNESS_MINIMISE_H

#include "opaque/barrier_pairs.h"
#include "witness.h"

enum { MR_MINIMISE_MOST = 100000 };

/* Replaces witness->events. `opaque` are the edges of opaque calls and of lives, NULL: there are
 * none. On
 * MR_ERR_MEMORY the witness is left as it was. */
mr_status mr_witness_minimise(const mr_trace *trace, const mr_barrier_edges *opaque,
                              mr_witness *witness, mr_error *error);

/* When a witness begins with the events window_start, window_start + 1, … of the trace, drops them
 * and moves window_start behind them: they happen as observed. Changes only witnesses of more than
 * MR_MINIMISE_MOST events. O(events). */
void mr_witness_observe(mr_witness *witness);

#endif
