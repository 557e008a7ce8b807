/*
 * each_stop: a question about lists of stops has no answer when the question about one stop of each list has none,
 * whatever the choice.
 *
 * About a list elimination (eliminate.h) knows only that its thread comes to the first stop, and not beyond the last. So it does not
 * see which sections are open when the thread stops. For a single stop it does.
 */
#ifndef MR_SOLVER_EACH_STOP_H
#define MR_SOLVER_EACH_STOP_H

#include "eliminate.h"

/*
 * Is it certain, by elimination near the stops, that each choice has no witness? L and U (cone.h) are those of the goal, or narrowed. Looks
 * no further than the first choice for which it is not certain, nor where there are many choices, or only one. All choices together have a part of the
 * effort of `limits`. Adds to `*effort`. Scratch memory of `arena`; without it nothing is certain.
 */
bool mr_each_stop_refute(const mr_precedence *forced, const mr_rows *rows, const mr_goal *goal,
                         const uint32_t *required, const uint32_t *allowed,
                         const mr_eliminate_limits *limits, uint64_t *effort, mr_arena *arena);

#endif
