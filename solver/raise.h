/*
 * raise: raises the clocks of precedence FORCED (windows/precedence.h) by what a search has found to be certain.
 *
 * Goes through the events of the window in trace order, since what is before an event stands before it in the trace, so that its
 * clock is there already. For each event the search tells further events that every reordering with it has before it.
 */
#ifndef MR_SOLVER_RAISE_H
#define MR_SOLVER_RAISE_H

#include "windows/precedence.h"

typedef struct mr_raiser {
    mr_precedence *forced;
    uint32_t *clock; /* of the event at hand */
    mr_arena *arena;
} mr_raiser;

/* `event`, of any thread, is before `of`, the event at hand, in every reordering with it. */
void mr_raise_by(mr_raiser *raiser, uint32_t event, uint32_t of);

/* Calls `tell` for each event of the window. New clocks are in `arena`, what is needed meanwhile in `scratch`; `forced->refined`
 * is set when one grew. False: no memory, or the run is halted. O(window · threads), besides what `tell` takes. */
bool mr_raise(mr_precedence *forced, void (*tell)(void *context, mr_raiser *raiser, uint32_t event),
              void *context, mr_arena *scratch, mr_arena *arena);

#endif
