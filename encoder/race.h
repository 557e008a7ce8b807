/*
 * race: docs/semantics.md 3.
 *
 *   for each thread with required events:   before(last node of L in the thread, CUT)
 *
 * L holds everything that a and b need to be the next events of their threads, and neither a nor b
 * is in C, so including L is all there is to it: locks do not forbid a plain access, and nothing
 * after a or b takes part.
 *
 * When a stands for accesses a_1 … a_k of a thread (likewise b), the thread must stop at one of
 * them: L holds what a_1 needs, a_k is not in C, and for i < k, with p the event just before
 * a_{i+1},
 *
 *   not included(a_i)  or  before(p, CUT)
 *
 * The thread's next event after rho is then the first a_i that is not included.
 */
#ifndef MR_ENCODER_RACE_H
#define MR_ENCODER_RACE_H

#include "encoding.h"

void mr_encode_stops(mr_encoding *encoding); /* the clauses that make threads stop at an access */
void mr_encode_race(mr_encoding *encoding);  /* after all nodes are made */

#endif
