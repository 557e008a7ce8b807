/*
 * outlook: facts about a whole trace that an order uses before it has seen the events: which
 * variables can have races, which locks can order events of different threads, and how many
 * sections each thread has of each lock. The orders skip events on variables and locks of one
 * thread, and WCP forgets sections that no later event needs. A text that is read once has no
 * outlook; the orders then learn from the events themselves.
 *
 *   mr_outlook_init → mr_outlook_add(events)* → mr_outlook_finish → use → mr_outlook_free
 *
 * One pass, O(events); memory O(names + pairs of a lock and a thread that uses it).
 */
#ifndef MR_TRACE_OUTLOOK_H
#define MR_TRACE_OUTLOOK_H

#include "base/keys.h"
#include "events.h"

/* A thread that acquires a lock of several threads. */
typedef struct mr_lock_use {
    uint32_t lock, thread;
    uint32_t sections; /* outermost acq and outermost racq of it by the thread in the whole trace */
} mr_lock_use;

typedef struct mr_outlook {
    uint64_t event_count;
    uint32_t thread_count, variable_count, lock_count, location_count;
    /* by variable: accessed by two threads or more, written, and accessed by a plain operation? A
     * free of its object is a plain write of it. (No two accesses of another variable conflict;
     * atomic ones may order events all the same.) */
    uint8_t *contended;
    uint8_t *lock_shared; /* by lock: acquired, in any way, by two threads or more? */
    mr_lock_use *uses;    /* of such locks, in the order of (lock, thread) */
    size_t use_count;

    /* while it is being made */
    uint32_t *variable_user; /* by variable: first user + 1; 0: none, UINT32_MAX: several */
    uint32_t *lock_user;     /* by lock: the same */
    uint32_t *freer;         /* by object: the thread that frees it + 1; 0: none so far */
    uint32_t object_count;
    size_t object_capacity;
    uint32_t *lock_depth;  /* by lock: acq that are not released; inner ones do not count */
    uint32_t *share_depth; /* by use: racq that are not released */
    uint8_t *access;       /* by variable: bit 0: written, bit 1: plainly accessed */
    size_t variable_capacity, lock_capacity, use_capacity, share_capacity;
    mr_keys use_numbers; /* (lock, thread) to index in `uses` + 1 */
} mr_outlook;

void mr_outlook_init(mr_outlook *outlook);
/* Also after a failure, and in any state. */
void mr_outlook_free(mr_outlook *outlook);

/* The events must come in the order of the trace. False: no memory. */
bool mr_outlook_add(mr_outlook *outlook, const mr_events *events);
/* Sorts, forgets the locks of one thread, frees what was needed on the way. `members` are those of
 * the trace. False: no memory. */
bool mr_outlook_finish(mr_outlook *outlook, const mr_members *members);

/* All of it for a trace in memory. */
bool mr_outlook_of_trace(mr_outlook *outlook, const mr_trace *trace);

#endif
