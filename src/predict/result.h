/*
 * result: the races and unknowns of a prediction, as plain data. Filled by src/predict and src/far,
 * printed by src/report.
 */
#ifndef MR_PREDICT_RESULT_H
#define MR_PREDICT_RESULT_H

#include "base/halt.h"
#include "base/model.h"
#include "witness/witness.h"

/* Has the program been run by the witness, to where its threads stop? */
typedef enum mr_confirmed {
    MR_CONFIRMED_NOT_ASKED,
    MR_CONFIRMED_NOT_TRIED, /* "not tried" */
    MR_CONFIRMED_YES,
    MR_CONFIRMED_DIVERGED,
} mr_confirmed;

typedef struct mr_race {
    mr_witness witness; /* owned; holds kind, accesses and window; may be packed */
    mr_strength strength;
    mr_step confirmed_by;
    mr_confirmed confirmed;
    const char *effect; /* on the program, in words; NULL: not known */
    bool is_long;       /* the witness is to be shortened before it is shown (witness/late.h) */
} mr_race;

const char *mr_confirmed_name(mr_confirmed confirmed); /* "yes" … */

/* What is found beside races (docs/semantics.md 7). */
typedef struct mr_finding {
    mr_witness witness; /* owned; holds the kind; may be packed */
    mr_step confirmed_by;
    mr_confirmed confirmed;
    const char *effect; /* as of a race */
} mr_finding;

/* A static finding that nothing has proven or refuted. `first` and `second` are events of one of its
 * questions: the first two stops, or the free and the use. */
typedef struct mr_finding_unknown {
    mr_witness_kind kind;
    uint32_t first, second, window_start, window_end;
    mr_unknown_reason reason;
    char detail[64]; /* the solver's own words; may be empty */
} mr_finding_unknown;

/* A circle of locks that is no deadlock: the acquires of one of its instances, in the order of the
 * circle. */
typedef struct mr_cycle_note {
    uint32_t waits[8], wait_count;
    uint32_t guard; /* a lock that two of the threads hold there, or MR_NONE */
    /* The threads cannot all be there because the acquire `before` comes before the event `after`, by
     * fork and join, and that comes before an acquire of the circle; MR_NONE: it takes more to see it. */
    uint32_t before, after;
} mr_cycle_note;

/* The static findings of a kind, with candidates.report: event those by events. */
typedef struct mr_finding_stats {
    uint64_t candidates; /* static findings that were looked at */
    uint64_t questions;  /* that were asked about them */
    uint64_t found, impossible, unknown;
} mr_finding_stats;

/* An unknown candidate. With candidates.report: static, there is one for each pair of places that
 * has an unknown pair of events and no race. */
typedef struct mr_unknown {
    uint32_t first, second, window_start, window_end;
    mr_strength strength;
    mr_unknown_reason reason;
    char detail[64]; /* the solver's own words; may be empty */
} mr_unknown;

typedef struct mr_stats {
    uint64_t windows;                   /* decided windows */
    uint64_t windows_stopped;           /* of these, ended by candidates.max_window_steps */
    uint64_t candidates;                /* pairs of events */
    uint64_t settled[MR_STEP_COUNT];    /* of these, by step; those of `far` are not among them */
    uint64_t races[MR_STEP_COUNT];      /* of `settled`, how many are races */
    uint64_t unknown[MR_UNKNOWN_COUNT]; /* pairs of events, by reason */
    uint64_t rejected_witnesses;        /* refused by the checker: 0, or maxrace has a bug */
    /* candidates.far: pairs of places with a candidate in a far window; how many of them are no
     * race, and how many are unknown; the windows that were built for them, and their events */
    uint64_t far_pairs, far_no_race, far_unknown, far_windows, far_events;
    /* Pairs of places without a known race, of which no far window has seen all accesses
     * (far/parts.h). */
    uint64_t far_parts;
    uint64_t static_races;                       /* memory-order races are not among them */
    uint64_t memory_order_races;                 /* by pairs of places */
    mr_finding_stats findings[MR_WITNESS_KINDS]; /* by kind; races are not among them */
    bool cycles_missing;      /* not all cycles of waits for locks were looked at: too many */
    bool findings_missing;    /* not all findings beside races were looked for */
    bool incomplete;          /* the run ended before its time: there may be more races */
    mr_halt_reason halted;    /* why it ended; MR_HALT_NONE: by a failure */
    uint64_t windows_missing; /* windows that were not decided */
    bool far_missing;         /* not all far races were looked for */
} mr_stats;

/* The units that a worker has decided. */
typedef struct mr_share {
    uint32_t rank, worker; /* rank 0 when there is but one process */
    uint64_t units;
    double seconds; /* spent on them */
} mr_share;

/* Figures that differ from one run to the next on the same trace with the same settings. Everything
 * else in a result is the same, unless a bound on time or memory ended a query. */
typedef struct mr_run_figures {
    /* By step: the time in questions; for filter, also that of collecting candidates; for far, all
     * of the time of far races. */
    double step_seconds[MR_STEP_COUNT];
    double read_seconds, order_seconds, window_seconds, decide_seconds, solver_seconds, far_seconds,
        witness_seconds, total_seconds;
    uint64_t peak_memory_bytes;
    uint64_t units_saved;   /* units whose outcomes were taken from earlier runs */
    uint64_t units_decided; /* units that this run has decided */
    uint64_t
        windows_again; /* windows decided twice, as the first outcome was not complete (merge.h) */
    /* Queries that the bound on time or memory ended, whatever became of their questions. When
     * there are none, another run finds the same. */
    uint64_t queries_stopped_by_time, queries_stopped_by_memory;
    mr_share *shares; /* by rank, then by worker; owned by the result */
    size_t share_count, share_capacity;
} mr_run_figures;

typedef struct mr_result {
    mr_race *races; /* in the order of (second, first); then the memory-order races, likewise */
    size_t race_count, race_capacity;
    mr_unknown *unknowns; /* in the order of (second, first) */
    size_t unknown_count, unknown_capacity;
    mr_finding *findings; /* in the order of (kind, second, first) */
    size_t finding_count, finding_capacity;
    mr_finding_unknown *finding_unknowns; /* likewise */
    size_t finding_unknown_count, finding_unknown_capacity;
    mr_cycle_note
        *cycle_notes; /* with explain_cycles: the impossible ones, then the guarded ones */
    size_t cycle_note_count, cycle_note_capacity;
    mr_stats stats;
    mr_run_figures run;
} mr_result;

void mr_result_free(mr_result *result); /* frees what it holds, not the struct */

/* Counts a unit for the worker that has decided it. False: no memory. O(number of workers) when the
 * worker is new, else O(log). */
bool mr_run_figures_count_unit(mr_run_figures *run, uint32_t rank, uint32_t worker, double seconds);

#endif
