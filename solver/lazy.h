/*
 * lazy: a lazily built formula (encoder/lazy.h), decided by Z3.
 *
 *   make what the order of the trace violates
 *   repeat: ask Z3
 *     no, under the assumption that some reads see one of the writes offered:
 *         offer more to the reads in the unsatisfiable core
 *     no, without need of such assumptions: there is no solution
 *     yes: move the model near the trace (placement.h) and make what it violates; nothing: solution
 *
 * Exact. The clauses that Z3 refutes without assumptions belong to the whole formula or follow from
 * it. An order that violates nothing is a solution of the whole formula. The loop ends: each round
 * makes a clause that was not there, or offers a write that was not offered. Bounded are the number
 * of rounds, the effort of looking at orders and the units of Z3, which are the same on every
 * machine, and behind them Z3's time and memory.
 */
#ifndef MR_SOLVER_LAZY_H
#define MR_SOLVER_LAZY_H

#include "encoder/encoding.h"
#include "session.h"

typedef enum mr_lazily {
    MR_LAZILY_SAT,
    MR_LAZILY_UNSAT,
    MR_LAZILY_OUT_OF_ROUNDS,
    MR_LAZILY_TOO_LARGE, /* the formula grew beyond its limit */
    MR_LAZILY_TROUBLE,   /* Z3 gave up */
    MR_LAZILY_NO_MEMORY,
} mr_lazily;

/* How many same-value writes a read is offered at first. */
enum { MR_LAZY_STAGE = 2 };

/* Bounds that do not depend on the machine. */
typedef struct mr_lazy_budget {
    uint32_t rounds;
    uint64_t effort; /* of looking at orders (mr_lazy.effort) */
} mr_lazy_budget;

/*
 * Decides the formula of `encoding`, which was built lazily and grows. `limits` are for all of it.
 * On SAT `order` (one a node) is a solution; on TROUBLE `trouble` says why, and what was spent in
 * any case. Scratch memory of `arena`.
 */
mr_lazily mr_solve_lazily(mr_encoding *encoding, mr_session *session, const mr_limits *limits,
                          const mr_lazy_budget *budget, int64_t *order, mr_trouble *trouble,
                          mr_arena *arena);

#endif
