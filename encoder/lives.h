/*
 * lives: rule 7 of docs/semantics.md 2.
 *
 * That an access and a free come after the alloc of the object is said by edges, as of
 * BarrierPairs (barrier_pairs.h). That an access does not come after the free, unless it does in the
 * trace: for each access e of C and the free f of its object in C, f of another thread and after e
 * in the trace (mr_window_end_of_life),
 *
 *     not included(e)  or  before(e, f)
 *
 * A free that is not included stands after CUT, so after e. The ends of the two accesses of the
 * question are not in C (solver/cone.h), which is all that rule 7 says of them.
 */
#ifndef MR_ENCODER_LIVES_H
#define MR_ENCODER_LIVES_H

#include "encoding.h"

/* Also lazily: at once. O(events of C in the region) when the window has frees, else O(1). */
void mr_encode_lives(mr_encoding *encoding);

#endif
