/*
 * forced: the order of FORCED, stated, when it was raised by proofs that the formula does not
 * repeat (mr_precedence.refined).
 *
 *   for each node v in C, each other thread t:
 *     before(u, v)      u the latest node of t in before(v)
 *
 * Literals are folded by FORCED (encoding.h). What mr_precedence_build knows follows from the
 * clauses that stay; what was found in many steps may rest on clauses that were folded by it, so
 * it is said. It holds for all events of C, as in encoder/known.h.
 */
#ifndef MR_ENCODER_FORCED_H
#define MR_ENCODER_FORCED_H

#include "encoding.h"

/* After all nodes are made. O(events of C + nodes · threads). False: no memory. */
bool mr_encode_forced(mr_encoding *encoding);

#endif
