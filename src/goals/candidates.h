/*
 * candidates: what may be found in a trace beside races (docs/semantics.md 7), as questions
 * (questions.h). Each function goes over the whole trace and adds its questions in the order of their
 * first events. It leaves out only what is impossible by its kind; fork, join and everything else is
 * left to the decision.
 *
 * A group is one finding: by its places, or, with `by_event`, by its events: each (free, use), each set
 * of acquires, each (kind, read).
 *
 * All return false when there is no memory.
 */
#ifndef MR_GOALS_CANDIDATES_H
#define MR_GOALS_CANDIDATES_H

#include "questions.h"

/* Uses after free: each free of an object with the accesses of it before, by other threads. Uses of
 * one thread and place stand for each other. Time and memory grow with the accesses of freed objects. */
bool mr_memory_candidates(mr_questions *questions, const mr_trace *trace, bool by_event);

/* Deadlocks: the cycles of lock_cycles.h. `*complete` is false when the search for cycles ended by its
 * budget: there may be more. */
bool mr_deadlock_candidates(mr_questions *questions, const mr_trace *trace, bool by_event,
                            bool *complete);

/* Circles of locks that a guard lock makes impossible, each once for its places. */
typedef struct mr_guarded_cycle {
    uint32_t events[8], count; /* an acquire of each wait */
    uint32_t guard;            /* the lock */
} mr_guarded_cycle;

typedef struct mr_guarded_cycles {
    mr_guarded_cycle *items; /* freed by the caller, also when there is no memory */
    size_t count, capacity;
} mr_guarded_cycles;

bool mr_deadlock_guarded(const mr_trace *trace, mr_guarded_cycles *found);

/*
 * Null and dangling pointers, double frees: each read that a deref is about, with what it could see.
 * Reads of one thread, variable and place, with the same uses, stand for each other. By place:
 *
 *   null       a question for each place that writes 0 to the variable (write_place), and one for no
 *              write at all when the initial value is 0
 *   dangling   a question for each value that is written to the variable and each object that contains
 *              it and is freed (required: its free); one for all of them when they are freed at one place
 *
 * By event there is one question for null, and one for each value otherwise.
 */
bool mr_pointer_candidates(mr_questions *questions, const mr_trace *trace, bool by_event);

#endif
