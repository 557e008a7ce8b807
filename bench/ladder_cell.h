/*
 * ladder_cell: how fast single questions about a window are decided, by the ladder of steps
 * (solver/decide.h) and by the plain formula of the papers (solver.strategy: eager).
 *
 * A question is one pair of accesses that conflict, are unordered by program order, fork and join
 * (and calls), and hold no common lock: what the filter leaves, and nothing else was looked at.
 * The pairs are drawn at random: an access, then in every second draw any other of its variable,
 * else one that is among the next few before or after it.
 */
#ifndef MR_BENCH_LADDER_CELL_H
#define MR_BENCH_LADDER_CELL_H

#include "base/model.h"
#include "config/config.h"
#include "solver/decide.h"

enum { MR_LADDER_MOST_QUERIES = 4096 };

typedef struct mr_ladder_plan {
    uint32_t queries;       /* pairs drawn in a window, for the ladder */
    uint32_t eager_queries; /* the first of them, for eager, too */
    double cell_seconds;    /* of one strategy in one cell: then no more is asked */
    uint64_t seed;
    mr_decide_options ladder, eager; /* with the same limits */
} mr_ladder_plan;

/* What one strategy did in a cell of the table. */
typedef struct mr_ladder_side {
    /* Of each query; one without a verdict counts with at least the limit. */
    double seconds[MR_LADDER_MOST_QUERIES];
    uint32_t count, race, no_race, unknown;
    uint32_t settled[MR_STEP_COUNT];
    double total; /* seconds that passed */
} mr_ladder_side;

/* Several windows may go into one cell. */
typedef struct mr_ladder_cell {
    mr_ladder_side ladder, eager;
    /* Of each query that eager was asked, too: the seconds of the ladder, and whether it needed
     * more than cone and linearise. */
    double paired[MR_LADDER_MOST_QUERIES];
    bool paired_hard[MR_LADDER_MOST_QUERIES];
    uint32_t disagreements; /* one says race, the other no race */
    uint32_t only_eager;    /* eager has a verdict, the ladder has none */
    uint32_t rejected;      /* witnesses that the checker refused */
    uint32_t windows;       /* with a pair */
    double window_seconds;  /* building them and their precedences */
    double worst_seconds;   /* the slowest query of the ladder, and … */
    char worst_input[64];   /* … where */
} mr_ladder_cell;

/* Asks about the window [start, end) of the trace. Without `ask_eager` only the ladder. */
mr_status mr_ladder_ask(mr_ladder_cell *cell, const mr_ladder_plan *plan, const mr_trace *trace,
                        const char *name, uint32_t start, uint32_t end, mr_model model,
                        bool ask_eager, mr_error *error);

/* The q-quantile (0 … 1) of the values, which it sorts; 0 without any. */
double mr_ladder_quantile(double *values, uint32_t count, double q);

#endif
