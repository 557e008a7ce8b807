/*
 * near: races of a window whose accesses are close together, for when a question is hard.
 *
 * The events before a small window happen as observed, so its questions have small cones. A race of
 * a small window inside a window is a race of the window: the events between the two starts are
 * possible in trace order. Where locks are nested deeply, or many threads share variables of few
 * values, most pairs of places that race have accesses that do within some hundred events, and the
 * question about all their accesses in the whole window takes a hundred times as long.
 *
 * The search first looks which pairs of places are never together (apart.h): a proof takes a moment there and a long search
 * in each small window. Then it goes through the window in small windows that overlap by half, of a sixteenth, an
 * eighth and a quarter of its size, and asks about each pair of places that is left and has no race so far by
 * the steps that cost little. At last, unless most pairs are never together and few are left, it looks for races of the
 * others in the whole window at once (survey.h), which may prove that they have none. What it finds depends on the window and the settings only, not on the
 * group for which it is made nor on what other workers know.
 *
 *   mr_near_race (makes the search when the window has had none) … → mr_near_forget at its end
 */
#ifndef MR_PREDICT_NEAR_H
#define MR_PREDICT_NEAR_H

#include "worker.h"

/* The options for questions about small windows; also, but for saturation and elimination, for the first attempt at a
 * question of a window. */
mr_decide_options mr_near_options(const mr_decide_options *options);

/* Is a first attempt worth it? Without these steps it decides nothing that the rest would not. */
bool mr_near_is_used(const mr_worker *worker);

/* A small window [start, end) with its candidates; memory of the worker's arena. */
typedef struct mr_small_window {
    mr_problem problem;
    mr_candidates candidates;
} mr_small_window;

/* Builds it, with those candidates that `wanted` (of mr_candidate_options) wants; the rows too, when it
 * `asks` and has candidates. The state that is carried in is moved to `start`. MR_ERR_MEMORY. */
mr_status mr_small_window_build(mr_worker *worker, uint32_t start, uint32_t end, mr_model model,
                                const mr_candidate_options *options, bool asks,
                                mr_small_window *small);

/*
 * Looks for a race of two places of the window of `problem`, which the worker is deciding. `*race`: its verdict, of
 * which the caller takes over the witness; NULL: none was found. `*no_race`: it is proven that there is none. The
 * arena is as before.
 */
mr_status mr_near_race(mr_worker *worker, const mr_problem *problem, uint32_t location_1,
                       uint32_t location_2, mr_pair_verdict **race, bool *no_race);

/* The problem of the window with the precedence that its search has found; NULL: no more than it had. */
const mr_problem *mr_near_problem(const mr_worker *worker);

/* Has the window too many states to look at all of them? False before its search. */
bool mr_near_has_many_states(const mr_worker *worker);

void mr_near_forget(mr_worker *worker);

#endif
