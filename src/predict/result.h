/*
 * result: what a prediction found, as plain data. Filled by src/predict, printed by src/report.
 */
#ifndef MR_PREDICT_RESULT_H
#define MR_PREDICT_RESULT_H

#include "base/halt.h"
#include "base/model.h"
#include "witness/witness.h"

typedef struct mr_race {
    mr_witness witness; /* owned; holds the accesses and the window; may be packed */
    mr_strength strength;
    mr_step confirmed_by;
} mr_race;

/* A candidate without a verdict. With candidates.report: static, one for each static pair that has
 * an undecided event pair and no race. */
typedef struct mr_unknown {
    uint32_t first, second, window_start, window_end;
    mr_strength strength;
    mr_unknown_reason reason;
    char detail[64]; /* the solver's own words; may be empty */
} mr_unknown;

typedef struct mr_stats {
    uint64_t windows;                   /* that were looked at */
    uint64_t windows_stopped;           /* of these, by candidates.max_window_steps */
    uint64_t candidates;                /* event pairs given to the decision procedure */
    uint64_t settled[MR_STEP_COUNT];    /* of these, by step; those of `far` come on top */
    uint64_t races[MR_STEP_COUNT];      /* of `settled`, how many are races */
    uint64_t unknown[MR_UNKNOWN_COUNT]; /* event pairs, by reason */
    uint64_t rejected_witnesses;        /* refused by the checker: 0, or maxrace has a bug */
    /* candidates.far: pairs of locations with a candidate in a far window, how many of them were
     * decided to be no race and how many have no verdict; the windows built for them */
    uint64_t far_pairs, far_no_race, far_unknown, far_windows, far_events;
    /* Pairs of locations that are no races as far as is known, but were seen by no far window as a
     * whole (far/far_parts.h). */
    uint64_t far_parts;
    uint64_t static_races; /* distinct unordered pairs of locations among the races */
    /* What is missing when the run was ended before its time: windows that were not looked at, far
     * races (not all were looked for). Then there may be more races. */
    bool incomplete;
    mr_halt_reason halted; /* why; MR_HALT_NONE: by a failure */
    uint64_t windows_missing;
    bool far_missing;
} mr_stats;

/* Who has decided what: a worker of a rank (0 when there is but one process). */
typedef struct mr_share {
    uint32_t rank, worker;
    uint64_t units; /* windows, and other pieces of work (predict/outcome.h) */
    double seconds; /* spent on them */
} mr_share;

/* What may differ each time that the same trace is analysed with the same settings. All else of a
 * result is the same, unless a bound on time or memory ended a query. */
typedef struct mr_run {
    /* By step: in questions; of filter, also in collecting candidates; of far, all of it. */
    double step_seconds[MR_STEP_COUNT];
    double read_seconds, order_seconds, window_seconds, decide_seconds, solver_seconds, far_seconds,
        witness_seconds, total_seconds;
    uint64_t peak_memory_bytes;
    uint64_t units_saved;   /* taken from earlier runs; a unit is a window, or a piece of the far
                               races */
    uint64_t units_decided; /* by this run */
    uint64_t windows_again; /* decided twice: what had been saved or made was not enough */
    /* Queries of Z3 that the bound on time or memory ended, whatever came of their questions. With
     * none, another run finds the same. */
    uint64_t queries_stopped_by_time, queries_stopped_by_memory;
    mr_share *shares; /* by rank, then by worker; owned by the result */
    size_t share_count, share_capacity;
} mr_run;

typedef struct mr_result {
    mr_race *races; /* in the order of (second, first) */
    size_t race_count, race_capacity;
    mr_unknown *unknowns; /* in the order of (second, first) */
    size_t unknown_count, unknown_capacity;
    mr_stats stats;
    mr_run run;
} mr_result;

void mr_result_free(mr_result *result); /* frees what it holds, not the struct */

/* Counts a unit for who has decided it. False: no memory. O(number of workers) when the worker is
 * new, else O(log). */
bool mr_run_count_unit(mr_run *run, uint32_t rank, uint32_t worker, double seconds);

#endif
