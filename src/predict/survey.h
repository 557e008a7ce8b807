/*
 * survey: all races of a window at once, for when questions about them are hard.
 *
 * Where locks are nested deeply, the reorderings of a window lead to few states (solver/layers.h). Then going
 * through all of them once takes less than the questions about each two places, of which each goes through many of
 * the same states. Threads may stop at the accesses of two places that are not settled, and of which two hold no
 * common lock. When all states have been looked at, those of two places that have no race by then have none in the
 * window.
 */
#ifndef MR_PREDICT_SURVEY_H
#define MR_PREDICT_SURVEY_H

#include "worker.h"

#include "base/map.h"

/* Does it say anything with these settings? Not in model branch, and not when some strengths only are wanted. */
bool mr_survey_is_used(const mr_worker *worker, const mr_problem *problem);

/* Its effort by the options of the questions: as much as hard ones about so many pairs of places take, at most as much as
 * a few of them, some seconds. */
uint64_t mr_survey_effort(const mr_decide_options *options, uint32_t pairs);

/*
 * Looks for races of the groups for which `settled` is false, and sets it for those that have one; adds a verdict with a
 * race to `outcome` for each. The candidates have all site pairs of these groups. `pairs`: of events (mr_map_key_of_two), when others have
 * no race; else NULL. `effort`: as of mr_explore_limits.
 * `*complete`: those that are not settled have no race in the window. No budget counts. MR_ERR_MEMORY.
 */
mr_status mr_survey_search(mr_worker *worker, const mr_problem *problem,
                           const mr_candidates *candidates, const mr_map *pairs, uint64_t effort,
                           bool *settled, mr_outcome *outcome, bool *complete);

#endif
