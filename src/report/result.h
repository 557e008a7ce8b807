/*
 * result: what a prediction found, as plain data. Filled by src/predict, printed by src/report.
 */
#ifndef MR_REPORT_RESULT_H
#define MR_REPORT_RESULT_H

#include "witness/witness.h"

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
    MR_STEP_SOLVER,    /* Z3: race or no race */
    MR_STEP_FAR,       /* beyond the window: an SHB race, linearised on its own window: race */
    MR_STEP_COUNT
} mr_step;

/* Why a candidate is unknown. */
typedef enum mr_unknown_reason {
    MR_UNKNOWN_TIME,     /* "time": solver.timeout_ms ran out */
    MR_UNKNOWN_MEMORY,   /* "memory": solver.memory_mb ran out */
    MR_UNKNOWN_SIZE,     /* "size": the formula has more than solver.max_clauses clauses */
    MR_UNKNOWN_BUDGET,   /* "budget": candidates.max_pairs event pairs of its static pair were tried */
    MR_UNKNOWN_SOLVER,   /* "solver": Z3 gave up for a reason of its own */
    MR_UNKNOWN_REJECTED, /* "rejected": the checker refused the witness; this is a bug of maxrace */
    MR_UNKNOWN_COUNT
} mr_unknown_reason;

const char *mr_strength_name(mr_strength strength);
const char *mr_step_name(mr_step step); /* "filter", "cone", "linearise", "solver", "far" */
const char *mr_unknown_reason_name(mr_unknown_reason reason);

typedef struct mr_race {
    mr_witness witness; /* owned; holds the accesses and the window */
    mr_strength strength;
    mr_step confirmed_by;
} mr_race;

/* A candidate without a verdict. With candidates.report: static, one for each static pair that has an
 * undecided event pair and no race. */
typedef struct mr_unknown {
    uint32_t first, second, window_start, window_end;
    mr_strength strength;
    mr_unknown_reason reason;
    char detail[64]; /* the solver's own words; may be empty */
} mr_unknown;

typedef struct mr_stats {
    uint64_t windows;
    uint64_t candidates;              /* event pairs given to the decision procedure */
    uint64_t settled[MR_STEP_COUNT];  /* of these, by step; those of `far` come on top */
    uint64_t races[MR_STEP_COUNT];    /* of `settled`, how many are races */
    uint64_t unknown[MR_UNKNOWN_COUNT]; /* event pairs, by reason */
    uint64_t rejected_witnesses;      /* refused by the checker: 0, or maxrace has a bug */
    uint64_t static_races;            /* distinct unordered pairs of locations among the races */
    double read_seconds, order_seconds, window_seconds, decide_seconds, solver_seconds, far_seconds,
        witness_seconds, total_seconds;
    uint64_t peak_memory_bytes;
} mr_stats;

typedef struct mr_result {
    mr_race *races; /* in the order of (second, first) */
    size_t race_count, race_capacity;
    mr_unknown *unknowns; /* in the order of (second, first) */
    size_t unknown_count, unknown_capacity;
    mr_stats stats;
} mr_result;

void mr_result_free(mr_result *result); /* frees what it holds, not the struct */

#endif
