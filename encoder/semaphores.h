/*
 * semaphores: docs/semantics.md 2.4.
 *
 * Each included wait takes a unit of its own. For each semaphore that two threads of the window
 * use, with k units carried in and more than k waits in C: for a wait w in C let P be the posts in
 * C whose unit w may take (windows/unit_choices.h). There is one free boolean m(w, p) for each p in
 * P, and m(w, carried) when w may take a carried unit:
 *
 *     not included(w)  or  m(w, carried)  or  OR over p in P of m(w, p)
 *     not m(w, p)      or  before(p, w)                   unless HARD has p before w
 *     of m(w, p), for each post p,                        at most 1 over all w
 *     of m(w, carried),                                   at most k over all w
 *
 * m(w, p) with w included makes p included. before(p, w) is folded away only by HARD: whatever else
 * precedence knows, it may know from this very rule.
 *
 * Counting. "At most n of x_1, x_2, …" takes booleans a(i, j), "of the first i at least j":
 *
 *     a(1, 1)  is  x_1
 *     not a(i-1, j)           or  a(i, j)            j <= min(i-1, n)
 *     not x_i                 or  a(i, 1)
 *     not x_i  or  not a(i-1, j)  or  a(i, j+1)      1 <= j < n
 *     not x_i  or  not a(i-1, n)                     i > n
 *
 * after Sinz (CP 2005). So the formula is as large as there are pairs, and not their square.
 */
#ifndef MR_ENCODER_SEMAPHORES_H
#define MR_ENCODER_SEMAPHORES_H

#include "encoding.h"

void mr_encode_semaphores(mr_encoding *encoding);

#endif
