/*
 * race: SEMANTICS 3.
 *
 *   for each thread with required events:   before(last node of L in the thread, CUT)
 *
 * L holds everything that a and b need to be the next events of their threads, and neither a nor b is in C, so including L
 * is all there is to it: locks do not forbid a plain access, and nothing after a or b takes part.
 */
#ifndef MR_ENCODER_RACE_H
#define MR_ENCODER_RACE_H

#include "encoding.h"

void mr_encode_race(mr_encoding *encoding); /* after all nodes are made */

#endif
