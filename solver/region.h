/*
 * region: a proof that there is no race, by a formula about the events near the stops.
 *
 * A proof that elimination does not find mostly needs some hundred clauses about events close to the
 * stops, while the formula of the cone has a node for nearly every event before them. So saturation
 * (saturate.h) is given a formula about a stretch of the window alone (encoder/lazy.h, regions), with U
 * (cone.h) for C. What the formula leaves out makes it weaker: when it has no solution, there is no
 * race, and a solution says nothing.
 */
#ifndef MR_SOLVER_REGION_H
#define MR_SOLVER_REGION_H

#include "decide.h"
#include "saturate.h"

/*
 * UNSAT: no race. Anything else but NO_MEMORY says nothing. The events are options->only_near_events before
 * the first stop, and an eighth of that after the last one. Does not look when more than options->only_near_apart
 * events (0: only_near_events) are between the stops, nor in model branch, nor for a goal that asks for more than
 * stops. L is in U. Adds to `*spent`. Scratch memory of `arena`. O(events of the region + names and semaphores of the
 * window) and the search.
 */
mr_saturated mr_region_saturate(const mr_precedence *hard, const mr_precedence *forced,
                                const mr_goal *goal, const uint32_t *required,
                                const uint32_t *allowed, const mr_decide_options *options,
                                uint64_t *spent, mr_arena *arena);

#endif
