/*
 * explore: the states that reorderings of the cone lead to, one after the other, until one is the
 * goal or there are no more. For questions whose reads leave few orders, such as deep nests of locks
 * around variables of few values: there the formula is large, and its search learns little.
 *
 * A *state* is how far each thread has come in C and what a read of each variable would see. What
 * may happen next depends on nothing else: locks, units, lives and calls follow from the first. So a
 * state is left at once when it was there before, and when all states have been looked at without
 * the goal there is no witness. (That C is enough is said in encoder/encoding.h.)
 *
 * Fewer states, without losing a witness:
 *
 *   - Threads go on by turns, and an event that takes nothing from anybody is run as soon as it is possible, unless
 *     its thread may stop at it (turns.h).
 *   - An event waits for what is known to be before it (encoder/known.h).
 *   - A state is given up when a required read cannot see what it has to, since all writes that it
 *     could see (windows/hidden.h) have happened and the last one was another, and when a required acquire waits for a
 *     section that is not left in C.
 *   - Of a variable that nobody reads any more, the state does not keep what was written last.
 *
 * Depth first, in trace order: what the trace does next is tried first, so a goal that is near the
 * trace is found without going back.
 *
 * Exact for goals that are stops, in models rf and value; passes on others, and when it has seen as
 * many states as it may.
 */
#ifndef MR_SOLVER_EXPLORE_H
#define MR_SOLVER_EXPLORE_H

#include "base/debug.h"
#include "encoder/known.h"

typedef enum mr_explored {
    MR_EXPLORED_FOUND,
    MR_EXPLORED_ALL, /* there is no witness */
    MR_EXPLORED_OUT_OF_EFFORT,
    MR_EXPLORED_NO_MEMORY,
} mr_explored;

/* "found", "all", "out-of-effort", "no-memory": for debug lines. */
const char *mr_explored_name(mr_explored result);

typedef struct mr_explore_question {
    const mr_window *window;
    const mr_goal *goal;             /* stops only */
    const uint32_t *required, *cone; /* one entry a thread (solver/cone.h) */
    const mr_known *known;           /* NULL: nothing */
} mr_explore_question;

typedef struct mr_explore_limits {
    uint64_t effort;       /* events run, and words of states */
    uint64_t memory_bytes; /* of the states; 0: no limit */
} mr_explore_limits;

/* On FOUND `events` (memory of `arena`) is a witness, and `stops`, one a list of the goal, are the
 * events before which its threads stand then. Adds what was spent to `*spent`. O(window + variables + sections) besides. */
mr_explored mr_explore(const mr_explore_question *question, const mr_explore_limits *limits,
                       uint64_t *spent, uint32_t **events, uint32_t *count, uint32_t *stops,
                       const mr_debug *debug, mr_arena *arena);

#endif
