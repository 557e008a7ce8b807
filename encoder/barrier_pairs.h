/*
 * barrier_pairs: docs/semantics.md 2.5, calls whose inside was not recorded.
 *
 * The edges of the BarrierPairs (opaque/barrier_pairs.h; Algorithms 2 and 3 of the RDIT paper) that
 * lie in the window are mr_window.barrier_edges. They are hard, as fork and join are:
 *
 *     before(e, f)      each edge (e, f) with f in C
 *
 * e is then in C, too, since C is closed under precedence. The edge also holds for events after
 * CUT, since those can stand in trace order. What the first access of each list needs by such edges
 * is in L. A thread may also stop at a later access a_i of its list (race.h), and what that needs
 * is needed once a_{i-1} is included:
 *
 *     not included(a_{i-1})  or  before(e, CUT)      each a_i but the first, each edge (e, a_i),
 *                                                    e not required
 */
#ifndef MR_ENCODER_BARRIER_PAIRS_H
#define MR_ENCODER_BARRIER_PAIRS_H

#include "encoding.h"

/* Emits the clauses above. O(edges of the window; with a region those into it). */
void mr_encode_barrier_pairs(mr_encoding *encoding);

#endif
