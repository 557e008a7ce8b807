/*
 * session: Z3, asked about formulas (encoder/formula.h). The only file that talks to Z3, with
 * watchdog.
 *
 * Each node becomes an integer constant, before(u, v) becomes u - v <= -1, each choice a boolean:
 * difference logic. One session serves many queries, one at a time; its context is renewed now and
 * then so that memory is given back.
 */
#ifndef MR_SOLVER_SESSION_H
#define MR_SOLVER_SESSION_H

#include "encoder/formula.h"

typedef enum mr_answer {
    MR_ANSWER_SAT,
    MR_ANSWER_UNSAT,
    MR_ANSWER_UNKNOWN,
} mr_answer;

typedef enum mr_interrupted {
    MR_INTERRUPTED_TIME,
    MR_INTERRUPTED_MEMORY,
    MR_INTERRUPTED_BY_SOLVER, /* Z3 gave up on its own; see detail */
} mr_interrupted;

typedef struct mr_limits {
    uint32_t timeout_ms;   /* of one query, building the formula in Z3 included; 0: none */
    uint64_t memory_bytes; /* held by Z3; 0: none */
} mr_limits;

typedef struct mr_session mr_session;

/* NULL: no memory. Z3 itself is started by the first query. */
mr_session *mr_session_new(void);
void mr_session_free(mr_session *session);

/*
 * Decides the formula. On SAT `order` (one a node) is a solution. On UNKNOWN `why` and `detail`
 * (Z3's own words, cut to `detail_bytes`) say what happened; the session stays usable.
 * `as_it_comes`: Z3 with its default settings, not those that suit such formulas.
 */
mr_answer mr_session_solve(mr_session *session, const mr_formula *formula, const mr_limits *limits,
                           bool as_it_comes, int64_t *order, mr_interrupted *why, char *detail,
                           size_t detail_bytes);

#endif
