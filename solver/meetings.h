/*
 * meetings: may a walk still come to a race that is wanted?
 *
 * Some reads wait for few writes. In a section a read after another access of its variable with another value can only see a write
 * of a thread without the lock: it has a *meeting* with it. A thread that passes such a write alone leaves the other one
 * before its read for good, that one never comes to its own writes, and so others wait, too. A walk (walk.h) would
 * go through all states to which the rest can still come.
 *
 * From a state let each thread go on, past everything but such reads, and past these when another thread has come to a write that
 * the read may see, or when the read would see it in the state. What no thread comes to that way, no walk from the
 * state comes to: by induction on its events. So the walk goes on only from states from which the waiting thread may come to its
 * stretch, and another one to an access that is wanted.
 */
#ifndef MR_SOLVER_MEETINGS_H
#define MR_SOLVER_MEETINGS_H

#include "partial.h"
#include "survey.h"

typedef struct mr_meetings mr_meetings;

/* Not for model branch. False: no memory. O(window · 64). */
bool mr_meetings_init(mr_meetings **meetings, const mr_window *window, mr_arena *arena);

/* What is wanted from now on: races of `held`, an access before which its thread waits, with the events that have the mark.
 * Fewer may be wanted later. O(window). */
void mr_meetings_want(mr_meetings *meetings, const mr_survey *survey, uint32_t held,
                      const uint32_t *marks, uint32_t mark);

/* False: the threads come to no such race from here. Adds what was spent to `*effort`. */
bool mr_meetings_is_there(mr_meetings *meetings, const mr_partial *partial, uint64_t *effort);

#endif
