/*
 * goal_search: everything of docs/semantics.md 7 that a window can end in, by trying every
 * reordering: the twin of the engine, for all kinds but races (exhaustive.h). It looks at every
 * reachable state and at the next events of the threads, and shares no code with the library.
 *
 * How it reads the text:
 *   - Events that threads stop at obey rules 1, 3 and 5; reads that are stopped at rule 7 as well;
 *     the access of a use after free only the part of rule 7 about the alloc.
 *   - Pointers (null, dangling, double free) are variables with values (not by source, in no model).
 *     What a diverged thread wrote is neither 0 nor an address.
 *   - dangling asks for a write: the initial value is none. Only objects whose alloc says where they
 *     are contain anything.
 *   - An acquire that was a try (acq.try) waits for nothing.
 *   - A deref that a free follows at once in its thread makes a double free, any other one dangling.
 */
#ifndef MR_TESTS_SUPPORT_GOAL_SEARCH_H
#define MR_TESTS_SUPPORT_GOAL_SEARCH_H

#include "exhaustive.h"

enum { MR_GOAL_EVENTS = 64, MR_GOAL_VALUES = 160, MR_GOAL_DEADLOCKS = 256 };

typedef struct mr_right_deadlock {
    uint64_t acquires; /* the events at which the threads stand, as bits */
    uint32_t state;
} mr_right_deadlock;

/* What is found, as a state of `search` + 1 in which it holds; 0: impossible. Free with
 * mr_goal_search_free. */
typedef struct mr_right_goals {
    mr_exhaustive search;                    /* with last_writes */
    bool by_source[MR_EXHAUSTIVE_VARIABLES]; /* variables that take no part where values count */
    uint32_t use_after_free[MR_GOAL_EVENTS][MR_GOAL_EVENTS]; /* of the free, of the access */
    uint32_t null[MR_GOAL_EVENTS];                           /* of the read; likewise below */
    uint32_t dangling[MR_GOAL_EVENTS], double_free[MR_GOAL_EVENTS];
    uint32_t sees[MR_GOAL_EVENTS][MR_GOAL_EVENTS];       /* of the read, of the write */
    uint32_t sees_value[MR_GOAL_EVENTS][MR_GOAL_VALUES]; /* of the read, of the value's number */
    mr_right_deadlock deadlocks[MR_GOAL_DEADLOCKS];      /* by rising `acquires` */
    uint32_t deadlock_count;
} mr_right_goals;

/* Searches [start, end). NULL: no memory, or the trace is beyond the limits. */
mr_right_goals *mr_goal_search(const mr_trace *trace, mr_model model, mr_opaque opaque,
                               uint32_t start, uint32_t end);
void mr_goal_search_free(mr_right_goals *goals); /* NULL is fine */

bool mr_goal_search_has_deadlock(const mr_right_goals *goals, uint64_t acquires);

/* The reads that a deref is about: the last read of its variable in its thread before it. A bit of
 * the result for each use: an access, a free. */
enum { MR_USED_BY_ACCESS = 1, MR_USED_BY_FREE = 2 };
unsigned mr_goal_uses(const mr_trace *trace, uint32_t read);

#endif
