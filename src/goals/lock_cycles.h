/*
 * lock_cycles: where threads of a trace might wait for each other in a circle: the candidates for
 * deadlocks (docs/semantics.md 7), over the whole trace.
 *
 * A *wait* is what acquires have in common that stand for each other (the abstract acquire of
 * Tunç, Mathur, Pavlogiannis, Viswanathan, PLDI 2023): thread, lock, exclusive or shared, place, and
 * the locks that the thread holds there, each with its mode and the place of its acquire. Its events
 * are all acquires of the trace that are so. A cycle is a sequence of waits of different threads for
 * different locks, in which each one's lock is held at the next wait, and the last one's at the
 * first, in a mode that excludes it. Instances of one cycle are decided together, so there are as
 * many questions as there are ways through the program, not as there are acquires.
 *
 * A lock that two threads of the cycle hold, in modes that exclude each other, is its *guard*: the
 * threads are never there at the same time, so there is no deadlock, in any reordering.
 *
 * Nothing else is tested here (fork and join, say): a cycle without a guard is a candidate. Every
 * deadlock of at most MR_CYCLE_WAITS threads is an instance of such a cycle.
 *
 * Cost: O(events × locks held) for the waits, only for locks that are in a circle (lock_graph.h);
 * then the number of paths that the search looks at, which is at most MR_CYCLE_STEPS.
 */
#ifndef MR_GOALS_LOCK_CYCLES_H
#define MR_GOALS_LOCK_CYCLES_H

#include "trace/trace.h"

enum {
    MR_CYCLE_WAITS = 8,        /* longer cycles are not looked for */
    MR_CYCLE_STEPS = 20000000, /* the search ends there and says so */
};

typedef struct mr_wait_hold {
    uint32_t lock, place;
    bool shared;
} mr_wait_hold;

typedef struct mr_lock_wait {
    uint32_t thread, lock, place;
    bool shared;
    uint32_t first_hold, hold_count;   /* in `holds` */
    uint32_t first_event, event_count; /* in `events` */
} mr_lock_wait;

/* The waits of a trace, in the order of their first events. */
typedef struct mr_lock_waits {
    mr_lock_wait *items;
    size_t count, capacity;
    mr_wait_hold *holds;
    size_t hold_count, hold_capacity;
    uint32_t *events; /* of each wait, in the order of the trace */
    uint32_t lock_count;
    uint32_t *first_holder,
        *holders; /* waits at which lock l is held: holders[first_holder[l] …) */
} mr_lock_waits;

/* False: no memory. Free with mr_lock_waits_free in any case. */
bool mr_lock_waits_find(mr_lock_waits *waits, const mr_trace *trace);
void mr_lock_waits_free(mr_lock_waits *waits);

typedef struct mr_lock_cycle {
    uint32_t count;
    uint32_t waits[MR_CYCLE_WAITS]; /* numbers; the first is the smallest */
    uint32_t guard;                 /* a lock, or MR_NONE */
} mr_lock_cycle;

/* Gets one cycle after the other. False ends the search. */
typedef bool mr_lock_cycle_sink(void *context, const mr_lock_cycle *cycle);

typedef enum mr_cycle_search {
    MR_CYCLES_ALL,
    MR_CYCLES_ENDED,  /* by the sink */
    MR_CYCLES_BUDGET, /* by MR_CYCLE_STEPS */
} mr_cycle_search;

/* All cycles, in the order of their first waits; those with a guard only when asked. */
mr_cycle_search mr_lock_cycles_each(const mr_lock_waits *waits, bool guarded,
                                    mr_lock_cycle_sink *sink, void *context);

/* The hold of the lock at the wait, which has it, in a mode that excludes the other wait. */
const mr_wait_hold *mr_lock_waits_holder(const mr_lock_waits *waits, uint32_t wait,
                                         uint32_t waiting);

#endif
