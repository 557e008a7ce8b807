/*
 * syncp: sync-preserving races (Mathur, Pavlogiannis, Viswanathan: Optimal Prediction of
 * Synchronization-Preserving Races, POPL 2021).
 *
 * A conflicting pair (e1, e2), e1 first in the trace, is reported when there is a reordering (model
 * rf of docs/semantics.md 2) that keeps the trace order of all acquires of a lock that it contains,
 * and that ends with both accesses next. Sound: each pair is a race, with a witness that
 * mr_syncp_schedule makes.
 *
 * Such a reordering exists exactly when the closure S of what comes before e1 and e2 in their
 * threads (syncp_ideal.h; forks of the threads included) contains neither e1 nor e2. Proof: S is
 * within every such reordering; and S in trace order is one (an acquire that is followed, in S, by
 * another of its lock has its release in S, reads have their writes, and the trace order keeps the
 * rest). e2 is never in S, as S lies before it in the trace; so the question is whether e1 is.
 *
 *   S = close(S1 ⊔ S2),  Si = closure of what comes before ei in its thread
 *
 * Lives (docs/semantics.md 2, rule 7): an alloc belongs to what comes before an access of its
 * object, as an edge of a call does. A free is a write of all variables of its object. When it
 * stands between e1 and e2 in the trace, S must not contain it; and as S is within every such
 * reordering, that is all there is to it.
 *
 * S1 and S2 come from one pass over the trace (syncp_pass.h), and the search (syncp_search.h)
 * closes the union for few of the pairs.
 *
 * All racy events are counted exactly, all static races are found exactly, with the pair of the
 * smallest second event, then the latest first, as first example.
 *
 * From the paper: the closure, its use for each pair, and that what is in the closure of a pair is
 * in that of later second accesses of the thread. Departures: the paper finds the releases that a
 * closure needs with queues of sections whose heads move as it grows; here a closure looks only at
 * the sections that are open at its cuts, of which there are few, by binary search, and needs no
 * state of its own. The paper asks which events are racy; all static races with their examples need
 * more, hence sites and groups (syncp_access.h).
 *
 * Cost, with N events, T chains of threads (trace/chains.h): O(N) for events that concern one thread only; O(T) for a lock
 * operation and for a read that sees news; a closure O(T) for each release that it joins; closures
 * as syncp_search.h counts them. Memory: syncp_ideal.h, and about 40 bytes a class of accesses to
 * contended variables.
 */
#ifndef MR_ORDER_SYNCP_SYNCP_H
#define MR_ORDER_SYNCP_SYNCP_H

#include "order/detector.h"

/* What the search or an index will take of memory, before it starts: an estimate, by one pass that
 * takes 16 bytes a variable and 4 for each pair of chains. Mostly one to three times the truth.
 * False: no memory. */
bool mr_syncp_bytes(const mr_trace *trace, uint64_t *bytes);

/*
 * Questions about any pair of conflicting accesses, after one pass over the trace.
 *
 *   (mr_syncp_index_new | mr_syncp_find) → (mr_syncp_is_race | mr_syncp_window | mr_syncp_schedule)* →
 *   mr_syncp_index_free
 *
 * The index is used by one thread at a time; every other one needs a view of it. The trace must
 * outlive it.
 */
typedef struct mr_syncp_index mr_syncp_index;

/* The races of the whole trace; `list` is overwritten and freed by the caller, also after an error.
 * `index` gets the index that the pass has made; it is NULL after an error. It may be NULL: nobody asks.
 * MR_ERR_MEMORY; MR_ERR_UNSUPPORTED for more than 2^31 - 2 events. */
mr_status mr_syncp_find(const mr_trace *trace, const mr_detect_options *options, mr_race_list *list,
                        mr_syncp_index **index, mr_error *error);

/* `options`: only outlook, opaque, edges and progress are looked at. `*index` is NULL after an
 * error. */
mr_status mr_syncp_index_new(const mr_trace *trace, const mr_detect_options *options,
                             mr_syncp_index **index, mr_error *error);
void mr_syncp_index_free(mr_syncp_index *index); /* NULL is fine */

/* The same index for another thread, in the memory of one number a thread of the trace; `index` is
 * to outlive it. Freed like an index. NULL: no memory. */
mr_syncp_index *mr_syncp_index_view(const mr_syncp_index *index);

/* Is the pair (first < second, conflicting) a sync-preserving race? */
bool mr_syncp_is_race(mr_syncp_index *index, uint32_t first, uint32_t second);

/*
 * The greatest `start` such that the closure of the pair and of all events before `start` contains
 * neither access; the pair is a race. With it the witness is short: the events before `start` as
 * observed, then what mr_syncp_schedule gives. O(log N) closures.
 */
uint32_t mr_syncp_window(mr_syncp_index *index, uint32_t first, uint32_t second);

/* Adds to `events` the events of the closure of the pair and of the events before `start` that are
 * in [start, second), in trace order: after them both accesses are next. `start` is at most what
 * mr_syncp_window gives; 0 gives the smallest reordering. False: no memory. O(second - start). */
bool mr_syncp_schedule(mr_syncp_index *index, uint32_t first, uint32_t second, uint32_t start,
                       mr_u32s *events);

#endif
