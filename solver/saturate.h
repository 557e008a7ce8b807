/*
 * saturate: a formula decided by propagation and search, without Z3.
 *
 * The search (search.h) propagates what is known. Then the nodes are put in a topological order,
 * the trace breaking ties and everything that need not stand before CUT after it. If no clause is
 * violated there, choices that are open counting as false, and nothing is refuted by a look at the
 * order (encoder/lazy.h, when the encoding is lazy), it is a solution. Clauses that the look adds
 * join the search where it stands. If a clause is violated, one of its literals is assumed, the one
 * that agrees with the trace first. A conflict is learned from and the search goes back as far as
 * the lesson is about.
 *
 * Exact: a conflict without assumptions is a proof, since every clause is one of the whole formula
 * or learned from such; an order that violates nothing is a solution. It ends: from time to time it
 * starts again with the best of what was learned, each time later and with more, and the clauses
 * that can be added are finite. The budget is a count of operations, the same on every
 * machine; when it is used up, or the formula has become too large, the question is passed on.
 */
#ifndef MR_SOLVER_SATURATE_H
#define MR_SOLVER_SATURATE_H

#include "base/debug.h"
#include "encoder/encoding.h"

typedef enum mr_saturated {
    MR_SATURATED_SAT,
    MR_SATURATED_UNSAT,
    MR_SATURATED_OUT_OF_EFFORT, /* or the formula is too large */
    MR_SATURATED_NO_MEMORY,
} mr_saturated;

/* Decides the formula of `encoding` within `max_effort` (0: no limit) and adds its effort to
 * `*spent`. On SAT `order` (one a node) is a solution. `debug` is told how it ended (topic search;
 * may be NULL). Scratch memory of `arena`. A lazy encoding gains clauses. */
mr_saturated mr_saturate(mr_encoding *encoding, uint64_t max_effort, uint64_t *spent,
                         int64_t *order, const mr_debug *debug, mr_arena *arena);

#endif
