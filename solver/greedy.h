/*
 * greedy: is a witness to be had by running what can run? For races that need another order than
 * that of the trace: another write of the same value, sections the other way round.
 *
 * The events of the cone C are run in passes in trace order: an event that is the next of its
 * thread is run if docs/semantics.md 2 allows it now, else its thread waits until the next pass. It
 * is done when all of L has run: the threads of the stops then stand before them (for lists: before
 * the first of the list). The sequence is a witness, each step being possible where it
 * stands; whether it is, the checker decides, as for any other.
 *
 * Greed can lead into dead ends, so these rules hold an event back:
 *   - a section is entered only if its thread can, alone and as things are, go on to its release;
 *   - a section that cannot be left in C is not entered unless it is in L;
 *   - what is known to be before an event (encoder/known.h) is run before it;
 *   - model branch: a read that must not be consistent waits too, at first.
 * When nothing moves, the first event of L that only these rules hold back is run, then they apply
 * again. Two modes, one after the other: all of C takes part; or events that are not in L run only
 * when nothing in L can.
 *
 * Finds races only; NOT_FOUND says nothing.
 */
#ifndef MR_SOLVER_GREEDY_H
#define MR_SOLVER_GREEDY_H

#include "encoder/known.h"

typedef enum mr_greedy {
    MR_GREEDY_FOUND,
    MR_GREEDY_NOT_FOUND,
    MR_GREEDY_NO_MEMORY,
} mr_greedy;

typedef struct mr_greedy_question {
    const mr_precedence *precedence; /* HARD or FORCED */
    const mr_goal *goal;
    const uint32_t *required, *cone; /* one entry a thread (solver/cone.h) */
    const mr_known *known;           /* NULL: nothing */
} mr_greedy_question;

/* On FOUND `events` (memory of `arena`) is the sequence; the threads stop at the first event of their
 * list. What the goal asks of the end (last, lives) is not looked at. At most `max_passes` passes of O(events of C), sections that are tried included. */
mr_greedy mr_greedy_run(const mr_greedy_question *question, uint32_t max_passes, uint32_t **events,
                        uint32_t *count, mr_arena *arena);

#endif
