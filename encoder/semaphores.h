/*
 * semaphores: docs/semantics.md 2.4.
 *
 * For each semaphore that two threads of the window use, with k units carried in and more than k
 * waits in C: each included wait takes a unit of its own. For a wait w in C, with P the posts in C
 * whose unit it may take (windows/unit_choices.h), one free boolean m(w, p) for each p in P, and
 * m(w, carried) when it may take a carried one:
 *
 *     not included(w)  or  m(w, carried)  or  OR over p in P of m(w, p)
 *     m(w, p) implies before(p, w)
 *     for each p, at most one w has m(w, p);  at most k have m(w, carried)
 *
 * m(w, p) with w included makes p included. before(p, w) is folded away only by program order,
 * fork, join and opaque calls: what else precedence knows, it may know from this very rule.
 *
 * "At most k" is counted along the waits: a(i, j), "of the first i at least j", needs no other
 * literals than x(i) and a(i-1, j) imply a(i, j), as in Sinz (CP 2005), so the formula is as large
 * as there are pairs, and not their square.
 */
#ifndef MR_ENCODER_SEMAPHORES_H
#define MR_ENCODER_SEMAPHORES_H

#include "encoding.h"

void mr_encode_semaphores(mr_encoding *encoding);

#endif
