/*
 * session: Z3, asked about formulas (encoder/formula.h). The only file that talks to Z3, with
 * watchdog and units.
 *
 * Each node becomes an integer constant, each choice a boolean: difference logic. Nodes have ranks,
 * and of equal integers the node of the lower rank stands first; so before(u, v) becomes
 * u - v <= -1 when u has the higher rank, and "not v - u <= -1" otherwise: for two nodes there is
 * one atom, and what Z3 tries first, false, is the order of the ranks. As it comes, it is u - v <=
 * -1 both ways. One session serves many queries, one at a time, and is used by one thread at a
 * time; sessions of different threads have nothing in common. A query may be asked again after its
 * formula has grown: what Z3 has learned is kept.
 *
 * What a query answers depends on what it is asked and on nothing else. Each has a context of Z3 of
 * its own (some 2 ms): in one that has served before, terms have other numbers, and Z3 goes another
 * way. And the limit that decides is a count of Z3's own operations, in its resource units
 * ("rlimit"), the same for the same questions on every machine, for all checks of the query
 * together. Time and memory are wider bounds behind it; where one of them ends a query, another run
 * may end otherwise.
 *
 *   mr_session_new → (mr_query_begin → mr_query_check* → mr_query_end)* → mr_session_free
 */
#ifndef MR_SOLVER_SESSION_H
#define MR_SOLVER_SESSION_H

#include "base/halt.h"
#include "base/model.h"
#include "base/room.h"
#include "encoder/formula.h"

typedef enum mr_answer {
    MR_ANSWER_SAT,
    MR_ANSWER_UNSAT,
    MR_ANSWER_UNKNOWN,
} mr_answer;

typedef enum mr_interrupted {
    MR_INTERRUPTED_UNITS,
    MR_INTERRUPTED_TIME,
    MR_INTERRUPTED_MEMORY,
    MR_INTERRUPTED_BY_SOLVER, /* Z3 gave up on its own; see detail */
} mr_interrupted;

typedef struct mr_limits {
    uint32_t units;      /* of Z3's resource counter, for one query with all its checks; 0: none */
    uint32_t timeout_ms; /* of one query, building the formula in Z3 included; 0: none */
    uint64_t memory_bytes; /* held by Z3, by all its sessions together; 0: none */
    mr_room *room; /* that the process must not outgrow: the query that was begun last is then
                      interrupted; NULL: none */
    const mr_halt
        *halt; /* that ends the query with the run: MR_INTERRUPTED_BY_SOLVER; NULL: none */
} mr_limits;

/* What a query may take of the memory at this moment: memory_bytes, or what is left of the room; 0:
 * as much as there is. */
uint64_t mr_limits_memory_bytes(const mr_limits *limits);
/* What the clauses of one formula may take of it: a quarter, since arrays that grow take two to three times what is in them;
 * 4 MiB at least, and 0: as much as there is. */
uint64_t mr_limits_formula_bytes(const mr_limits *limits);

typedef struct mr_session mr_session;

/* NULL: no memory. Z3 itself is started by the first query. */
mr_session *mr_session_new(void);
void mr_session_free(mr_session *session);

/* What kept Z3 from an answer, and what it spent, whether it came to one or not. */
typedef struct mr_trouble {
    mr_interrupted why;
    char detail[64]; /* Z3's own words, cut, or the limit */
    uint64_t units;  /* of the resource counter; a check may pass the limit by a few */
} mr_trouble;

/* How Z3 is set up for a query. */
typedef enum mr_settings {
    MR_SETTINGS_TUNED,       /* as suits such formulas */
    MR_SETTINGS_AS_IT_COMES, /* its defaults, for comparison */
} mr_settings;

typedef struct mr_query mr_query;

/* Choices that are taken to be false in one check. */
typedef struct mr_assumptions {
    const uint32_t *choices;
    uint32_t count;
    /* One each: after UNSAT, whether the refutation needs it. None in the core: the formula has no
     * solution without the assumptions either. */
    bool *in_core;
} mr_assumptions;

/*
 * Starts a query. The limits are for all of it, until its end, with what the caller does in
 * between. `ranks`, one a node, all different, are to live as long as the query. NULL: Z3 cannot be
 * started or has no memory.
 */
mr_query *mr_query_begin(mr_session *session, const mr_limits *limits, mr_settings settings,
                         const uint32_t *ranks);

/*
 * Decides the formula, of which Z3 is told what is new since the last check of this query; nothing
 * that it had may have been taken away. `assumptions` may be NULL. On SAT `order` (one position a
 * node, all different) and `choices` (one a choice, 1 or 0; may be NULL) are a solution. After
 * UNKNOWN, nothing more can be asked.
 */
mr_answer mr_query_check(mr_query *query, const mr_formula *formula,
                         const mr_assumptions *assumptions, int64_t *order, uint8_t *choices);

/* Is a limit passed? */
bool mr_query_interrupted(const mr_query *query);

/* Ends the query; the session stays usable whatever happened. After UNKNOWN `trouble` says why; its
 * `units` are set in any case. */
void mr_query_end(mr_query *query, mr_trouble *trouble);

/* One query of one check. A formula that is too large for `limits->units` is not asked about, unless `settings` are those
 * of Z3. */
mr_answer mr_session_solve(mr_session *session, const mr_formula *formula, const mr_limits *limits,
                           mr_settings settings, const uint32_t *ranks, int64_t *order,
                           mr_trouble *trouble);

/* Why a question has no answer whose query was interrupted. */
mr_unknown_reason mr_session_reason(mr_interrupted why);

#endif
