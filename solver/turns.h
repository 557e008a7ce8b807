/*
 * turns: what threads do next, for the steps that go through states (explore.h, layers.h). A state is how far each
 * thread has come and what reads would see.
 *
 * A *turn* of a thread is its acquires, and accesses that concern no other thread, up to the first other event, and this
 * event. Until then nobody needs the locks to be held; the thread that releases them comes later. At the end of a witness
 * the stops need the locks that they hold: they are taken there. An acquire that others wait for ends a turn, too: one
 * from which an edge of a BarrierPair leads, and the last event of a thread, for which a join waits.
 *
 * An event that *takes nothing* from anybody is run as soon as it is possible, unless its thread may stop at it: a read
 * that sees what it has to, a release, a post, a fork, a join, a write of a variable that nobody reads any more, and so
 * on. In a witness that goes on from the state, such an event can be moved to the front, or added there when it is missing.
 */
#ifndef MR_SOLVER_TURNS_H
#define MR_SOLVER_TURNS_H

#include "windows/window.h"

/* The last read of a variable by a thread, in C. */
typedef struct mr_reader {
    uint32_t thread, last; /* position */
} mr_reader;

typedef struct mr_turns {
    const mr_window *window;
    const uint32_t *cone;                /* one a thread: C is its events before this position */
    uint32_t *threads, thread_count;     /* that have events in C, or stop */
    uint32_t *variables, variable_count; /* that a thread of C reads */
    uint32_t *event_of; /* as by_thread: the position of the event of the turn that begins there */
    mr_reader *readers; /* of all variables */
    uint32_t *readers_first; /* one a variable, and the end */
    /* Rows of `words` with a bit for each of `variables`: which of them a thread still reads. `row_of`: the row of each position, as
     * by_thread, and one for the end of each thread. NULL: they would take too much. */
    uint64_t *rows;
    uint32_t *row_of, words;
    uint64_t *scratch; /* `words` */
} mr_turns;

/* `stops`: one a thread, not 0: the thread has to stop somewhere; NULL: none has to. `may_stop`: one an event, not 0: its
 * thread may stop before it. False: no memory of `arena`. O(window · log). */
bool mr_turns_init(mr_turns *turns, const mr_window *window, const uint32_t *cone,
                   const uint32_t *stops, const uint32_t *may_stop, mr_arena *arena);

/* The position of the event of the thread's turn, when it stands at `next`; its length: there is none. */
static inline uint32_t mr_turns_event(const mr_turns *turns, uint32_t thread, uint32_t next)
{
    return next < mr_window_length(turns->window, thread)
               ? turns->event_of[turns->window->threads[thread].first + next]
               : next;
}

/* Is there a read of the variable to come, in C, when the threads stand at `next`? */
bool mr_turns_is_read_later(const mr_turns *turns, uint32_t variable, const uint32_t *next);

/* Which of `variables` have such a read, a bit each, in scratch of `turns`. */
const uint64_t *mr_turns_read_later(const mr_turns *turns, const uint32_t *next);

/* The section that the event enters for itself and against others; NULL: there is none. */
const mr_section *mr_turns_entered(const mr_window *window, uint32_t event);

/* Once it is possible, may the event be run before anything else, when the threads stand at `next`? They may not stop
 * at it. */
bool mr_turns_takes_nothing(const mr_turns *turns, uint32_t event, const uint32_t *next);

#endif
