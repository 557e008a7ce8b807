/*
 * together: at which events two threads may stand at the same time, for all events of a window at once.
 *
 * Where reads have to see values that few writes have, threads cannot go far ahead of each other: who waits keeps back
 * those that read what it would write, and these keep back others. No single order is certain then, so elimination
 * proves nothing, and there are too many states to go through. But the states of each *two* can be gone through.
 *
 * A *part* is a thread or a shared variable. The state of a thread is how far it has come, that of a variable its last write.
 * For each two parts the search keeps the pairs of states that they may be in at the same time, and starts with the one
 * pair at the start of the window. An event of a thread is possible beside a state of another part when
 *
 *   - the two may be together, and if the event accesses a variable, both with one and the same last write of it, which
 *     a read may see;
 *   - the event is possible beside some state of each other part, with that last write;
 *   - what is certainly before the event has happened, and no section is open there that excludes one which it enters.
 *
 * Then the states after it may be together, too. This is repeated until there is no new pair. A state of a reordering has all its pairs
 * among those found, by induction on its events. So two accesses that are not found together do not race. Two that are may
 * not be reached either.
 *
 * Threads take *steps*: acquires wait for the event after them, and an event that only gives (a release) comes at once. A state
 * stands for those of its thread that this leads to.
 *
 * A section of accesses is one step, or few (atomic_sections.h). An access of it is *disturbed* when one of another thread that
 * conflicts with it and does not hold the lock is found beside the state before the step. Its other accesses may be moved to
 * any place in the section, and the acquire to the first disturbed access, the release to the last. So a step has one disturbed access at most,
 * and ends with it when it is a write. Each reordering can be changed so that all of the step is where this access is. When it is not ended there, it can
 * be left out, for no other access has seen it: a disturbed write is the last of its step. States inside a step have no pairs, but
 * that before a disturbed access, with the threads that may race with it; those are added at the end. A step is divided when more of its
 * accesses are found to be disturbed.
 *
 * Gives up when much more pairs are there than in windows whose threads stay close, or when the window has too many parts.
 */
#ifndef MR_SOLVER_TOGETHER_H
#define MR_SOLVER_TOGETHER_H

#include "base/debug.h"
#include "explore.h"
#include "windows/precedence.h"

typedef struct mr_together mr_together;

/* Of a window that is not of model branch; what is borrowed must stay. MR_EXPLORED_ALL: `*together` is there, in memory of
 * `arena`. Adds what was spent to `*spent`. */
mr_explored mr_together_search(const mr_window *window, const mr_precedence *hard,
                               const mr_precedence *forced, const mr_explore_limits *limits,
                               uint64_t *spent, const mr_debug *debug, mr_arena *arena,
                               mr_together **together);

/* Did the search give up because its states take too much memory? */
bool mr_together_is_full(const mr_together *together);

/* From now on it is about this window, which is the same as its own. */
void mr_together_move(mr_together *together, const mr_window *window);

/* Are threads and shared variables few? With more each two have so many states that questions take less, but for far races. */
bool mr_together_has_few_parts(const mr_window *window);

/* May an access (or free) and one of `count` (not 0) of another thread, which are in the order of the trace, be the next events
 * of their threads at the same time? They conflict and hold no common lock; of others a section that is one step says too little. False: they
 * are not in any reordering. Looks only at those that the row of the first has words for, at most some thousand. */
bool mr_together_may_be(const mr_together *together, uint32_t access, const uint32_t *events,
                        uint32_t count);

/* Raises `forced`, that of the search or a copy of it: when an event has happened, each other thread has come at least as far as the first state that
 * it may be in then. New clocks are in `arena`. False: no memory, or the run is halted. O(window · threads). */
bool mr_together_raise(const mr_together *together, mr_precedence *forced, mr_arena *arena);

#endif
