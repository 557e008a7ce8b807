/*
 * model: the words that every layer shares: the model of reads, the mode of BarrierPairs, the verdict
 * of a candidate, the step that settled it, and why a candidate is unknown.
 */
#ifndef MR_BASE_MODEL_H
#define MR_BASE_MODEL_H

/* What a read may see in a reordering (docs/semantics.md 2, rule 6). */
typedef enum mr_model {
    MR_MODEL_RF,     /* "rf": a read sees the write event that it saw */
    MR_MODEL_VALUE,  /* "value": a read sees the value that it saw; the maximal causal model */
    MR_MODEL_BRANCH, /* "branch": as value, or its thread goes on, diverged, up to its next branch */
} mr_model;

/* What BarrierPairs order (docs/semantics.md 2.5; src/opaque/barrier_pairs.h). */
typedef enum mr_opaque {
    MR_OPAQUE_PAIR,   /* "pair": the edges of the RDIT paper */
    MR_OPAQUE_SIMPLE, /* "simple": any two of them count as having a common element (SB) */
    MR_OPAQUE_IGNORE, /* "ignore": nothing; unsound, to measure what BarrierPairs are good for */
} mr_opaque;

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
    MR_STRENGTH_C17,        /* "c17": no race, but unordered by happens-before of C17 */
} mr_strength;

/* The steps of the decision procedure, in the order in which they are tried; one settles a
 * candidate. The names are those of solver.steps (src/config/options.def, in the same order), `far`
 * comes on top. */
typedef enum mr_step {
    MR_STEP_FILTER,    /* "filter": ordered by program order and fork/join, or a common lock */
    MR_STEP_CONE,      /* "cone": what the race needs includes or follows one of the accesses */
    MR_STEP_LINEARISE, /* "linearise": the required events in trace order are a witness: race */
    MR_STEP_ELIMINATE, /* "eliminate": what is certain leaves no order: no race */
    MR_STEP_GREEDY,    /* "greedy": running what can run, in trace order, finds one: race */
    MR_STEP_SATURATE,  /* "saturate": the formula, by propagation and search: race or no race */
    MR_STEP_EXPLORE,   /* "explore": the states that reorderings lead to: race or no race */
    MR_STEP_LAZY,      /* "lazy": clauses by and by, by Z3: race or no race */
    MR_STEP_Z3,        /* "z3": the whole formula, by Z3: race or no race */
    MR_STEP_FAR,       /* "far": beyond the window, a sync-preserving race in trace order: race */
    MR_STEP_COUNT
} mr_step;

/* Sets of steps, as bits. */
#define MR_STEP_BIT(step) (1u << (step))
#define MR_ALL_STEPS      (MR_STEP_BIT(MR_STEP_FAR) - 1)

/* Why a candidate is unknown. */
typedef enum mr_unknown_reason {
    MR_UNKNOWN_TIME,   /* "time": solver.timeout_ms ran out */
    MR_UNKNOWN_MEMORY, /* "memory": solver.memory_mb ran out, or memory.limit_mb */
    MR_UNKNOWN_SIZE,   /* "size": the formula has more than solver.max_clauses clauses */
    /* "budget": candidates.max_unanswered queries of its static race had no answer, the window was
     * out of candidates.max_window_steps, or a prefilter chose more pairs for it than are kept */
    MR_UNKNOWN_BUDGET,
    MR_UNKNOWN_SOLVER, /* "solver": Z3 gave up for a reason of its own */
    /* "steps": no step of solver.steps settled it within its budget of work, solver.rlimit for Z3
     */
    MR_UNKNOWN_STEPS,
    MR_UNKNOWN_REJECTED, /* "rejected": the checker refused the witness; this is a bug of maxrace */
    MR_UNKNOWN_COUNT
} mr_unknown_reason;

const char *mr_model_name(mr_model model);
const char *mr_strength_name(mr_strength strength);
const char *mr_step_name(mr_step step);
const char *mr_unknown_reason_name(mr_unknown_reason reason);

#endif
