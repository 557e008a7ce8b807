/*
 * verdict: the words for what becomes of a candidate, shared by candidates, solver and reports.
 */
#ifndef MR_BASE_VERDICT_H
#define MR_BASE_VERDICT_H

/* docs/semantics.md: an unknown candidate is never counted as no race. */
typedef enum mr_verdict {
    MR_VERDICT_RACE,
    MR_VERDICT_NO_RACE,
    MR_VERDICT_UNKNOWN,
} mr_verdict;

/* The strongest order in which the pair is unordered: how far one has to look to see the race. */
typedef enum mr_strength {
    MR_STRENGTH_HB,         /* "hb": unordered by happens-before */
    MR_STRENGTH_WCP,        /* "wcp": ordered by HB, unordered by WCP */
    MR_STRENGTH_BEYOND_WCP, /* "beyond-wcp": ordered by both */
} mr_strength;

/* The step of the decision procedure that settled a candidate. */
typedef enum mr_step {
    MR_STEP_FILTER,    /* ordered by program order and fork/join, or a common lock: no race */
    MR_STEP_CONE,      /* what the race needs includes or follows one of the accesses: no race */
    MR_STEP_LINEARISE, /* the required events in trace order are a witness: race */
    MR_STEP_SATURATE,  /* the formula, by propagation and search: race or no race */
    MR_STEP_SOLVER,    /* the formula, by Z3: race or no race */
    MR_STEP_FAR,       /* beyond the window: a sync-preserving race, in trace order: race */
    MR_STEP_COUNT
} mr_step;

/* Why a candidate is unknown. */
typedef enum mr_unknown_reason {
    MR_UNKNOWN_TIME,   /* "time": solver.timeout_ms ran out */
    MR_UNKNOWN_MEMORY, /* "memory": solver.memory_mb ran out */
    MR_UNKNOWN_SIZE,   /* "size": the formula has more than solver.max_clauses clauses */
    /* "budget": candidates.max_unanswered queries of its static race had no answer, the window was
     * out of candidates.max_window_steps, or a prefilter chose more pairs for it than are kept */
    MR_UNKNOWN_BUDGET,
    MR_UNKNOWN_SOLVER,   /* "solver": Z3 gave up for a reason of its own */
    MR_UNKNOWN_REJECTED, /* "rejected": the checker refused the witness; this is a bug of maxrace */
    MR_UNKNOWN_COUNT
} mr_unknown_reason;

const char *mr_strength_name(mr_strength strength);
const char *mr_step_name(mr_step step); /* "filter", "cone", "linearise", "saturate", "z3", "far" */
const char *mr_unknown_reason_name(mr_unknown_reason reason);

#endif
