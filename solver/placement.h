/*
 * placement: from a model of a formula to an order near the trace.
 *
 * A solver's order puts nodes anywhere that its clauses leave open. That violates hundreds of the
 * clauses that are not made yet (encoder/lazy.h). The formula needs less of the model: one true
 * literal for each clause. Any topological order of the edges and of these literals satisfies the
 * formula, too; they are all true in the model, so they are acyclic.
 *
 * Of a clause's true literals the placement takes one that agrees with the trace, else one that
 * excludes an event, else any. Of the topological orders it takes the one in which the trace breaks
 * ties, with everything after CUT that need not stand before it.
 *
 *   mr_placement_init → mr_placement_order* → mr_placement_free
 */
#ifndef MR_SOLVER_PLACEMENT_H
#define MR_SOLVER_PLACEMENT_H

#include "encoder/encoding.h"

typedef struct mr_placement {
    const mr_encoding *encoding;
    uint32_t *by_trace; /* nodes in trace order, without CUT; arena, as the next five */
    uint32_t *first; /* one a node and one more: its predecessors are before[first … next one's) */
    uint32_t *cursor; /* one a node: the predecessors before it are placed */
    uint32_t *pending;
    uint8_t *needed; /* must it stand before CUT? */
    uint8_t *placed;
    uint32_t *before;          /* owned */
    mr_literal *true_literals; /* owned */
    size_t before_capacity, true_count, true_capacity;
} mr_placement;

/* For an encoding that gets no more nodes. False: no memory of `arena`. */
bool mr_placement_init(mr_placement *placement, const mr_encoding *encoding, mr_arena *arena);
void mr_placement_free(mr_placement *placement);

/*
 * Moves `order`, a solution with `choices` (one a choice, 1: true), near the trace. O(formula).
 * False: no memory.
 */
bool mr_placement_order(mr_placement *placement, int64_t *order, const uint8_t *choices);

/* The trace itself: the required events, CUT, the rest. It satisfies the edges. O(nodes). */
void mr_placement_of_trace(const mr_placement *placement, int64_t *order);

#endif
