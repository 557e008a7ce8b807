/*
 * hybrid: lock sets together with a happens-before without locks (O'Callahan and Choi, PPoPP 2003).
 *
 * A conflicting pair (e1, e2) is reported when
 *   - the lock sets of the two events do not exclude each other (lock_sets.h), and
 *   - e1 is not before e2 in the smallest partial order of: program order, fork, join, and
 *     *messages*: units of semaphores (so wake-ups of condition variables and barriers, too, as the
 *     recorder writes them), what calls that were not recorded order, and the alloc of an object
 *     before its accesses.
 * Releases order nothing, nor do atomic accesses, nor the join of a thread without events. So the pairs are those that no lock and no message
 * keeps apart, whatever the recorded schedule was: candidates for a search over schedules. Most of what
 * is false among them was ordered by values: a flag, a queue, an atomic variable.
 *
 * It reports each pair that another order leaves unordered, and, in a trace without `wait`, each
 * race of every model (docs/semantics.md 6): these orders and models all keep the edges above, and no two
 * threads hold locks that exclude each other. A `wait` may take any unit in a reordering, and takes the
 * oldest one here.
 *
 * Departures from the paper: every pair is reported, not only the first of each place; nothing is left
 * out because it is dominated by an earlier access. A read-write lock held shared by both excludes
 * nothing.
 *
 * Of each variable and each (thread, place, operation, lock set) the latest access is kept: its local
 * time is the greatest. An access costs O(what is kept of its variable) when it is the first of its kind, or
 * when its thread or the variable's other accesses have had a message since the last of its kind; else
 * O(1). 40 bytes for each access that is kept.
 */
#ifndef MR_ORDER_HYBRID_H
#define MR_ORDER_HYBRID_H

#include "lock_sets.h"
#include "variable.h"

typedef struct mr_locked_access {
    mr_past_access access;
    uint32_t lock_set;
    /* The answer for the latest one: it holds while version and clock are these. */
    uint32_t version;
    mr_clock *clock; /* one reference */
    bool racy;
    uint8_t event_high; /* bits 32 to 39 of the event of `access` */
} mr_locked_access;

/* What is kept of a variable (variable.h has the pointer). */
struct mr_hybrid_history {
    uint32_t count, capacity;
    uint32_t recent;  /* the item that was used last */
    uint32_t version; /* grows when an item is new or its local time changes */
    mr_table table;   /* of the items, where there are several */
    mr_locked_access items[];
};

/* Before the pool of the clocks goes; NULL is fine. */
void mr_hybrid_free(mr_hybrid_history *history, mr_clock_pool *pool);

#endif
