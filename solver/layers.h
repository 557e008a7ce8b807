/*
 * layers: all races of a window at once, by going through the states that its reorderings lead to, each of which may be
 * that of a race. For windows whose reads leave few orders, such as those with deep nests of locks.
 *
 * A *state* is how far each thread has come and what a read of each variable would see. What may happen next depends on
 * nothing else: locks, lives and calls follow from the first (units of semaphores, too; they are kept since counting
 * them takes long). Threads go on by turns, and what takes nothing from anybody is run as soon as it is possible (turns.h, moves.h), but
 * for events at which a thread may stop. No event is required. Of a variable that nobody reads any more, the state does not
 * keep what was written last.
 *
 * A *layer* has the states to which the same number of events leads. Each turn leads to a later layer, so when layers are
 * gone through in their order, no state comes to one that is done, and equal states meet within a layer.
 * A layer that is done is dropped, so that few states are there at a time, mostly in the cache of the processor. Of each
 * state only its number, the number of the state that led to it and the thread whose turn it was are kept:
 * the events of a race are run again from the start.
 *
 * A state after which no race that is wanted can come leads to no others (prospect.h).
 *
 * Once no race of an access is wanted any more, no thread stops there. Up to then it might, which has led to more states,
 * not to fewer.
 *
 * Exact in models rf and value when it comes to its end.
 */
#ifndef MR_SOLVER_LAYERS_H
#define MR_SOLVER_LAYERS_H

#include "explore.h"
#include "survey.h"

/* MR_EXPLORED_ALL: no two accesses have a race that was wanted and not told of. Gives up early when it will
 * not come to its end (pace.h). Adds what was spent to `*spent`. */
mr_explored mr_layers_search(const mr_survey *survey, const mr_explore_limits *limits,
                             uint64_t *spent, const mr_debug *debug, mr_arena *arena);

#endif
