/*
 * budget: the effort that far races may take, and what an answer adds to the result.
 *
 * Effort is counted in events of windows that are built (ask.h says what a question costs; about
 * 0.3 µs each). Two budgets bound it: limits.per_race for one pair of places, limits.all for all of
 * them. In a model that is stricter than that of the settings, where only races count, a pair of places may use up
 * half of its own. A third one, max_unanswered, bounds the questions of a pair of places whose verdict is
 * unknown. An answer is paid for when it is merged, in the order of the plan. A question may start
 * as long as both budgets are not exceeded, so the last question may exceed them.
 *
 * The calling thread merges, and workers look at the budget at the same time. So during a phase the
 * lock guards the accounts of all pairs of places, `spent` and the ledger of the result. A function
 * without "now" in its name needs the lock, or no unit under way.
 *
 * A worker looks ahead: what is settled or too expensive now will be so when the merge comes to it,
 * because effort and races only grow. So the worker may pass over such a question, and the merge
 * never misses its answer.
 */
#ifndef MR_FAR_BUDGET_H
#define MR_FAR_BUDGET_H

#include "far_window.h"
#include "predict/merge.h"

#include <pthread.h>

typedef struct mr_far_budget {
    const mr_far_window *window;
    mr_merge *merge;
    pthread_mutex_t lock;
    uint64_t spent; /* effort of all pairs of places */
    uint64_t most;  /* of it, beside limits.all; 0: no limit */
} mr_far_budget;

void mr_far_budget_init(mr_far_budget *budget, const mr_far_window *window, mr_merge *merge);
void mr_far_budget_free(mr_far_budget *budget);

/* Is the pair of places without a race so far, and does the budget cover `effort` more? */
bool mr_far_budget_covers(const mr_far_budget *budget, const mr_place_pair *places,
                          uint64_t effort);
/* May one more question be asked about it? `effort` and `unanswered` are those of earlier questions
 * that are not merged yet. */
bool mr_far_budget_may_ask(const mr_far_budget *budget, const mr_place_pair *places,
                           uint64_t effort, uint64_t unanswered);
/* May a short question be asked about it, so that half of both budgets is left for what comes after it? */
bool mr_far_budget_may_try(const mr_far_budget *budget, const mr_place_pair *places,
                           uint64_t effort);
/* The same three, by a thread that does not hold the lock. */
bool mr_far_budget_covers_now(mr_far_budget *budget, const mr_place_pair *places, uint64_t effort);
bool mr_far_budget_may_ask_now(mr_far_budget *budget, const mr_place_pair *places, uint64_t effort,
                               uint64_t unanswered);
bool mr_far_budget_may_try_now(mr_far_budget *budget, const mr_place_pair *places, uint64_t effort);

/* Leaves one of so many parts of what is left of limits.all, unless that is 0. */
void mr_far_budget_lower(mr_far_budget *budget, uint64_t part);

/* Leaves at most so much of limits.all, unless that is 0. */
void mr_far_budget_bound(mr_far_budget *budget, uint64_t effort);

/* Charges effort to a pair of places that the budget covers so far. */
void mr_far_budget_pay(mr_far_budget *budget, mr_place_pair *places, uint64_t effort);

/* Pays for an answer and adds its race or unknown to the result. MR_ERR_MEMORY. */
mr_status mr_far_budget_count(mr_far_budget *budget, mr_place_pair *places,
                              mr_pair_verdict *verdict, mr_error *error);

/* Ends a pair of places without a race: `unknown`, or no race when that is NULL. In the model of
 * the settings only. MR_ERR_MEMORY. */
mr_status mr_far_budget_conclude(mr_far_budget *budget, mr_place_pair *places,
                                 const mr_unknown *unknown, mr_error *error);

#endif
