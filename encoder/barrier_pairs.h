/*
 * barrier_pairs: docs/semantics.md 4, calls whose inside was not recorded.
 *
 *   for each edge (e, f) of opaque/barrier_pairs.h with e and f in the window and f in C:   before(e, f)
 *
 * The edges are hard, as fork and join: e is in C when f is (C is closed under precedence), and for
 * events after CUT they can hold too, since those can stand in trace order. What a and b themselves
 * need by such edges is in L. For lists of accesses (race.h), where a thread may stop at any a_i,
 *
 *   for each a_i but the first, each edge (e, a_i):   not included(a_{i-1})  or  before(e, CUT)
 *
 * (The BarrierPair constraints of Algorithms 2 and 3 of the RDIT paper, as edges.)
 */
#ifndef MR_ENCODER_BARRIER_PAIRS_H
#define MR_ENCODER_BARRIER_PAIRS_H

#include "encoding.h"

void mr_encode_barrier_pairs(mr_encoding *encoding);

#endif
