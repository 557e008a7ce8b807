/*
 * forced: the order of FORCED as edges. They are stated only when FORCED was raised by proofs that
 * the formula does not repeat (mr_precedence.refined).
 *
 *     before(u, v)      each node v of C, each other thread t that is in before(v);
 *                       u is the latest node of t in before(v)
 *
 * An edge that the node before v in its thread has already is left out: program order implies it.
 *
 * Literals are folded by FORCED (encoding.h). What mr_precedence_build finds follows from the
 * clauses that stay. What elimination found in many steps may rest on clauses that were folded by
 * it, so the formula has to state it. The edges hold for all events of C, as in known.h.
 */
#ifndef MR_ENCODER_FORCED_H
#define MR_ENCODER_FORCED_H

#include "encoding.h"

/* After all nodes are made. O(nodes · chains + threads²). False: no memory. */
bool mr_encode_forced(mr_encoding *encoding);

#endif
