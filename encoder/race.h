/*
 * race: docs/semantics.md 3.
 *
 *     before(last(t), CUT)      each thread t with a node in L; last(t) is its last one
 *
 * L holds everything that a and b need to be the next events of their threads, and neither a nor b
 * is in C, so including L is all there is to it: locks do not forbid a plain access, and nothing
 * after a or b takes part.
 *
 * When a stands for accesses a_1 … a_k of a thread (likewise b), the thread must stop at one of
 * them. L holds what a_1 needs, and a_k is not in C. Then with p_i the event just before a_{i+1} in
 * its thread
 *
 *     not included(a_i)  or  before(p_i, CUT)      each i < k with p_i != a_i
 *
 * The thread's next event after rho is then the first a_i that is not included. Each a_i with i < k
 * is a node, so that a solution says whether it is included.
 */
#ifndef MR_ENCODER_RACE_H
#define MR_ENCODER_RACE_H

#include "encoding.h"

void mr_encode_stops(mr_encoding *encoding); /* the clauses that make threads stop at an access */
void mr_encode_race(mr_encoding *encoding);  /* after all nodes are made */

#endif
