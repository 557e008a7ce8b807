/*
 * window_trials: questions about windows of random traces (trials.h), for tests of a decision step:
 * for each model the whole trace or a window of it by chance, and in it every two accesses that
 * conflict. Exhaustive search knows what there is, and the checker what a witness is.
 *
 * Zero-initialise, set the first lines, then for each trace mr_window_trials_examine.
 */
#ifndef MR_TESTS_SUPPORT_WINDOW_TRIALS_H
#define MR_TESTS_SUPPORT_WINDOW_TRIALS_H

#include "exhaustive.h"
#include "setup.h"
#include "solver/cone.h"
#include "trials.h"
#include "witness/checker.h"

typedef struct mr_window_trials {
    void *context;
    /* Asks about accesses, events of the window; what it takes of the arena is given back. */
    void (*ask)(void *context, mr_stops one, mr_stops two);
    bool lists; /* also about lists: an access and those like it after it */
    /* Also about bundles: an access and those of its thread after it with the same end of life (src/far/bundles.h). */
    bool bundles;
    bool every_witness;   /* `search` knows every witness of every race */
    mr_setup setup;       /* the window */
    mr_exhaustive search; /* of it */
    mr_checker *checker;
    char wrong[1024]; /* empty: nothing so far */
} mr_window_trials;

void mr_window_trials_examine(mr_window_trials *self, mr_trial *trial);

/* The same for mr_trials_run; `self` is a mr_window_trials. */
void mr_window_trials_trial(mr_trial *trial, void *self);

/* Says what is wrong in the window; only what is said first is kept. */
void mr_window_trials_wrong(mr_window_trials *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Does the race stand in the two lists of window events, one access in each? */
bool mr_window_trials_is_between(const mr_window_trials *self, const mr_pair *race,
                                 const mr_stops *one, const mr_stops *two);

/* Is it a witness that the two can be next? All are events of the window; `how` it was found is
 * for the message. */
void mr_window_trials_check(mr_window_trials *self, uint32_t one, uint32_t two,
                            const uint32_t *events, uint32_t count, const char *how);

/* A question with what a step gets of the steps before it (solver/cone.h). */
typedef struct mr_cone_question {
    mr_stops stops[2];
    mr_goal goal; /* of the two lists; by mr_cone_question_pose */
    uint32_t required[MR_EXHAUSTIVE_THREADS], cone[MR_EXHAUSTIVE_THREADS];
    uint32_t allowed[MR_EXHAUSTIVE_THREADS];
} mr_cone_question;

/* `stops` are set. False: filter and cone leave nothing. */
bool mr_cone_question_pose(mr_cone_question *question, mr_setup *setup);

#endif
