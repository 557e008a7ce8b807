/*
 * way: a short way to a state of a recorded run that the run did not have: the events that must come
 * before, in an order close to that of the trace. It is the cheap half of the frontier (frontier.h):
 * what it finds is a reordering by docs/semantics.md 2 in the model rf, but for lives of objects; what
 * it does not find may still exist, and the engine knows (goal *sees*).
 *
 * Which events come: a thread up to its stop, and then by closure what each event needs: the write that
 * a read saw, the fork of a thread, all of a thread that is joined, the post whose unit is taken, and
 * the ends of all critical sections of a lock but one. They run in trace order where that is possible.
 * Two departures from it are made: a write that is to be seen comes last among those of its variable,
 * and a section that stays open comes last among those of its lock.
 */
#ifndef MR_HUNT_WAY_H
#define MR_HUNT_WAY_H

#include "trace/trace.h"

/* Where each event stands in its thread. Zero-initialise; free with mr_way_index_free. */
typedef struct mr_way_index {
    uint32_t *number; /* by event: its number in its thread, from 0 on */
    uint32_t *first;  /* by thread: its events are events[first[t] … first[t + 1]) */
    uint32_t *events;
} mr_way_index;

/* False: no memory. O(events). */
bool mr_way_index_make(mr_way_index *index, const mr_trace *trace);
void mr_way_index_free(mr_way_index *index);

typedef enum mr_way_last {
    MR_WAY_ANY,     /* nothing is asked of a variable */
    MR_WAY_WRITE,   /* `write` is the last write of its variable */
    MR_WAY_INITIAL, /* the variable of stop 0, a read, was never written */
} mr_way_last;

typedef struct mr_way_goal {
    uint32_t stops[2]; /* events of different threads, which stop before them */
    uint32_t stop_count;
    mr_way_last last;
    uint32_t write;
    uint32_t barred; /* an event that does not come; MR_NONE: none */
    bool may_wait;   /* a stop that acquires a lock may have to wait for it */
} mr_way_goal;

typedef enum mr_way_answer {
    MR_WAY_FOUND,
    MR_WAY_NONE, /* not in this way */
    MR_WAY_NO_MEMORY,
} mr_way_answer;

/* Finds the events that come before the goal, in their order. A stop that acquires a lock can go on: no
 * section of the lock is open, unless it may wait. O(threads · events that come) expected. */
mr_way_answer mr_way(const mr_trace *trace, const mr_way_index *index, const mr_way_goal *goal,
                     mr_u32s *events);

#endif
