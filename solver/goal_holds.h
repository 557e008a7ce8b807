/*
 * goal_holds: does a sequence of window events end as a goal asks (encoder/goal.h, last and lives)? For
 * steps that find sequences without looking at that.
 */
#ifndef MR_SOLVER_GOAL_HOLDS_H
#define MR_SOLVER_GOAL_HOLDS_H

#include "base/arena.h"
#include "encoder/goal.h"

/* `*holds`: the answer, for a reordering whose threads stop where the goal says. False: no memory of
 * `arena`. O(count + variables). */
bool mr_goal_holds(const mr_window *window, const mr_goal *goal, const uint32_t *events,
                   uint32_t count, bool *holds, mr_arena *arena);

/* The goal with one more required event, MR_NONE: none; memory of `arena`. False: there is none. */
bool mr_goal_with(const mr_goal *goal, uint32_t required, mr_goal *more, mr_arena *arena);

#endif
