/*
 * c17_pairs: the conflicting pairs that happens-before of C17 leaves unordered (docs/semantics.md 8)
 * in the recorded order, and in sequences that begin as recorded and go on otherwise: witnesses.
 *
 *   mr_c17_pairs_new → (mr_c17_pairs_go_to → mr_c17_pairs_try*)* → mr_c17_pairs_free
 *
 * A pair (a, b) is told when b is next after the events before it in the sequence, a is one of
 * them, and nothing orders a before b: neither happens-before (hb.h, c17.h, what the calls that were
 * not recorded order), nor an edge from a write to a read that sees it, unless both are atomic. Such
 * an edge into b itself does not count. Of the accesses of a thread at one place the latest one is a.
 *
 * Cost: go_to O(events), and for each access of a contended variable O(its places and threads);
 * a try the same for its own events, and O(threads + locks + atomic variables).
 */
#ifndef MR_ORDER_C17_PAIRS_H
#define MR_ORDER_C17_PAIRS_H

#include "opaque/barrier_pairs.h"
#include "trace/outlook.h"

typedef struct mr_c17_pairs mr_c17_pairs;

/* Takes a pair of events, `first` earlier in the sequence. A pair of places comes again and again.
 * False: no memory. */
typedef bool mr_c17_take(void *context, uint32_t first, uint32_t second);

/* All must outlive it. NULL: no memory. */
mr_c17_pairs *mr_c17_pairs_new(const mr_trace *trace, const mr_outlook *outlook,
                               const mr_barrier_edges *edges, mr_c17_take *take, void *context);
void mr_c17_pairs_free(mr_c17_pairs *pairs); /* NULL is fine */

/* Goes on as recorded to the events before `end`, which is not below the last one. False: no
 * memory, here and below; then it can only be freed. */
bool mr_c17_pairs_go_to(mr_c17_pairs *pairs, uint32_t end);

/* Goes on with `events` in their order instead, then with one of the two accesses, and tells the
 * pairs whose second event is among all these. Afterwards it is where it was before. */
bool mr_c17_pairs_try(mr_c17_pairs *pairs, const uint32_t *events, uint32_t count,
                      const uint32_t accesses[2]);

#endif
