/*
 * trials: an examination of many random traces (generate.h), one after the other. The first that
 * goes wrong is printed with the line that runs it again, and made as short as possible.
 *
 * With the prefix "EXACT", the environment may say
 *
 *   EXACT_TRACES  how many traces, over all shapes in turn
 *   EXACT_SEED    seed of the first one; trace i has seed EXACT_SEED + i
 *   EXACT_SHAPE   only traces of this shape
 */
#ifndef MR_TESTS_SUPPORT_TRIALS_H
#define MR_TESTS_SUPPORT_TRIALS_H

#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* One trace under examination, and what is wrong with it. */
typedef struct mr_trial {
    uint64_t seed;    /* of the trace */
    uint64_t choice;  /* what is asked of it; made of the seed */
    mr_trace *trace;  /* during an examination only */
    char wrong[1600]; /* empty: nothing */
} mr_trial;

/* Looks at the trace; calls mr_trial_wrong at the first mismatch. */
typedef void mr_trial_examine(mr_trial *trial, void *context);

/* Says what is wrong; only what is said first is kept. */
void mr_trial_wrong(mr_trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct mr_trials {
    const char *prefix;
    uint64_t traces, seed; /* when the environment does not say */
    uint64_t share;        /* of `traces`, for a test that runs a share (length.h); 0: all */
    const char *shape;     /* the same; NULL: all in turn */
    bool longer;           /* traces of 20 to 48 events, not 4 to 20 */
    bool all_kinds;        /* also shapes with the operations of MR_KIND_SHAPE_MAP */
    bool goals;            /* also those of MR_GOAL_SHAPE_MAP */
} mr_trials;

/* Runs all; fails the test at the first that is wrong. Returns how many were run. */
uint64_t mr_trials_run(const mr_trials *trials, mr_trial_examine *examine, void *context);

/* The examination of one text. False: it is no trace, and trial->wrong says why. */
bool mr_trial_text(mr_trial *trial, const char *text, mr_trial_examine *examine, void *context);

#endif
