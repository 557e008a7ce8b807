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
 *   - An event that takes nothing from anybody is run as soon as it is possible, unless its thread
 *     may stop at it: a read that sees what it has to, a release, a post, a fork, a join, a write of
 *     a variable that nobody reads any more, and so on. In a witness that goes on from the
 *     state, such an event can be moved to the front, or added there when it is missing.
 *   - An acquire is run right before the next event of its thread that is no acquire, nor an access that concerns no
 *     other thread. Until then nobody needs the lock to be held; the thread that releases it comes later. At the end of a
 *     witness the stops need the locks that they hold: they are taken there. That does not go for an acquire
 *     that others wait for: one from which an edge of a BarrierPair leads, and the last event of a thread, for a join.
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

/*
 * All races of a window at once: the states that its reorderings lead to, each of which may be that of a race.
 * What is above about the goal is about each two accesses at which threads may stop: an event at which no thread
 * may stop is run as soon as it is possible, and no event is required. C is the whole window.
 */
typedef struct mr_survey {
    const mr_window *window; /* not model branch */
    /* One an event: not 0 when a thread may stop before this access. `found` may set it to 0 when no race of it is
     * wanted any more: what has been run as if the thread may stop there has led to more states, not to fewer. */
    const uint32_t *stops;
    /* Is a race of these two wanted? They are accesses at which threads may stop, in no order, and may not conflict. */
    bool (*wanted)(void *context, uint32_t a, uint32_t b);
    /* After `events` a and b race. False: the search is to end (MR_EXPLORED_FOUND). */
    bool (*found)(void *context, uint32_t a, uint32_t b, uint32_t *events, uint32_t count);
    void *context;
} mr_survey;

/* MR_EXPLORED_ALL: no two accesses have a race that was wanted and not told of. */
mr_explored mr_explore_window(const mr_survey *survey, const mr_explore_limits *limits,
                              uint64_t *spent, const mr_debug *debug, mr_arena *arena);

#endif
