/*
 * saturate: a formula decided by propagation and search, without Z3.
 *
 * The graph of what is known to be ordered (closure.h) starts with the formula's edges. A literal
 * before(u, v) is false once v reaches u. A clause whose literals are all false is a conflict; one
 * with a single literal left makes that literal true; this is repeated until nothing changes. Then
 * the nodes are put in a topological order, the trace breaking ties and everything that need not
 * stand before CUT after it. If no clause is violated there, it is a solution. If some is, one of
 * its literals is assumed, the one that agrees with the trace first, and the search goes on; after
 * a conflict the assumption is withdrawn and its opposite holds (before(v, u): a solution is a
 * total order).
 *
 * Exact: a conflict without assumptions is a proof, an order that violates nothing is a solution.
 * What is bounded is the work, counted in steps that do not depend on the machine; when it is used
 * up, the formula is passed on.
 */
#ifndef MR_SOLVER_SATURATE_H
#define MR_SOLVER_SATURATE_H

#include "encoder/encoding.h"

typedef enum mr_saturated {
    MR_SATURATED_SAT,
    MR_SATURATED_UNSAT,
    MR_SATURATED_OUT_OF_STEPS,
    MR_SATURATED_NO_MEMORY,
} mr_saturated;

/* Decides the formula of `encoding` within `max_steps` (0: no limit) and adds what it took to
 * `*spent`. On SAT `order` (one a node) is a solution. Scratch memory of `arena`. */
mr_saturated mr_saturate(const mr_encoding *encoding, uint64_t max_steps, uint64_t *spent,
                         int64_t *order, mr_arena *arena);

#endif
