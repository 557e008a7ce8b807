/*
 * syncp_ideal: ideals of a trace and their closure, what sync-preserving races are decided by.
 *
 * An *ideal* is a set of events that holds, with an event, all events of its thread before it. It
 * is *closed* when with each event it holds what a sync-preserving reordering of its events needs
 *
 *   (1) the fork of its thread;                 (2) of a join, all events of the joined thread;
 *   (3) of a read, the write that it saw; of a wait, the post whose unit it took;
 *   (4) of two acquires of one lock, the release of the one that is earlier in the trace;
 *   (5) of an event after which an edge of a call ends (opaque/barrier_pairs.h), where that begins.
 *
 * Only outermost acquires and releases count. A lock that is also held shared stands here for
 * several mutexes, as whole.h says. In rule (4) the trace itself has that release before the later
 * acquire, since it is valid. Put in trace order, a closed ideal is such a reordering, and the
 * smallest closed ideal that holds some events, their *closure*, is contained in all that hold
 * them. All events of a closure stand, in the trace, no later than the last of the events it was
 * made from.
 *
 * Threads. A thread is here, and in all of syncp, a chain of threads (trace/chains.h) with its number:
 * by (1) and (2) an ideal that is closed has the events of a chain up to some event, as those of one
 * thread. The next thread of a chain starts when the one before it has been joined, which has ended a
 * step. Only mr_syncp_pass and reports know the threads of the trace.
 *
 * Steps. The events of a thread are cut into steps 1, 2, …; a step ends with
 *   an acquire or release of a lock of several threads (for each mutex that it stands for), a fork,
 *   a write that another thread reads from, a post or another event that one of another thread
 *   needs, an event before or after which the closure of the thread's events so far has grown by
 * events of other threads (a read, a join), or the last event of a thread that is joined. Whatever
 * makes others include events of the thread ends a step, so a closed ideal is one number a thread:
 * its steps up to k. (Of a step that is not complete only the accesses of the asking thread count,
 * and they need nothing that the step before does not need.) And within a step the closure of what
 * came before the event, in other threads, does not change: it is stored once for all of it, as a
 * *row* of one entry a thread, shared by as many steps as possible. With many threads a row is a tree of nodes, and has
 * the nodes without news from the rows that it came from, so what a trace needs does not grow with events × threads.
 *
 *   entry = 2 k + (is a lock of several threads held at the end of step k?)
 *
 * so the maximum of two entries also says whether there can be an acquire without release at the
 * cut: only those can break rule 4. The own entry of a row means nothing.
 *
 * The closure of the union of two closed ideals: entry-wise maximum; then, as long as there is a
 * section open at its cut whose lock another thread acquires later in the trace within the ideal,
 * join the closure of the section's release (mr_syncp_close). O(threads) for each release that is
 * joined, and a binary search for each open section and user of its lock. It never allocates.
 *
 * Memory: 12 bytes a step, about 30 bytes an outermost section. A row takes 4 bytes a thread, and with more than 128 threads 64
 * bytes for each node with news, of a tree with 16 entries or nodes a node.
 */
#ifndef MR_ORDER_SYNCP_IDEAL_H
#define MR_ORDER_SYNCP_IDEAL_H

#include "base/assert.h"
#include "base/map.h"
#include "trace/trace.h"

/* So many entries of ideals are unpacked at most (16 MiB), but always two threads. */
enum { MR_SYNCP_MOST_UNPACKED = 1 << 22 };

/* Step k of a thread is steps[k - 1]; steps that have ended only. */
typedef struct mr_syncp_step {
    uint32_t row;  /* closure of what came before it; MR_NONE: was never asked for */
    uint32_t open; /* list of the sections open at its end (index in `held`), MR_NONE: none */
    uint32_t last; /* the thread's events up to here belong to it or to steps before */
} mr_syncp_step;

typedef struct mr_syncp_thread {
    mr_syncp_step *steps;
    size_t step_count, step_capacity;
    uint32_t open;    /* sections open now */
    uint32_t row;     /* where `ideal` is stored; MR_NONE: it has changed since */
    uint32_t like[2]; /* rows that it may share nodes with: its last, and the last that it joined */
    /* Closure of its events in the steps that have ended, own entry included. NULL: that is `row`, or nothing so far;
     * of many threads only those that had the last events are unpacked. */
    uint32_t *ideal;
} mr_syncp_thread;

/* An outermost critical section of a lock of several threads; numbered in trace order. */
typedef struct mr_syncp_section {
    uint32_t thread, acquire_step, release_step; /* the steps that they end; release 0: open */
} mr_syncp_section;

/* Lists of open sections share their tails and are never changed. */
typedef struct mr_syncp_held {
    uint32_t section, lock, next;
} mr_syncp_held;

/* A thread that acquires a lock. */
typedef struct mr_syncp_user {
    uint32_t thread, next; /* next user of the lock, MR_NONE: last */
    mr_u32s sections;      /* its sections of the lock */
} mr_syncp_user;

typedef struct mr_syncp_ideals {
    uint32_t thread_count;
    mr_syncp_thread *threads;
    uint32_t *entries;                     /* `ideal` of so many threads, … */
    uint32_t *unpacked;                    /* … whose numbers these are; MR_NONE: free */
    uint32_t unpacked_most, unpacked_next; /* the place that is needed next */
    uint32_t width, height;                /* of nodes and rows; 0: a row is a node of entries */
    uint32_t *nodes;                       /* `width` entries, or nodes, each; 0 has only zeros */
    size_t node_count, node_capacity;
    mr_syncp_section *sections;
    size_t section_count, section_capacity;
    mr_syncp_held *held;
    size_t held_count, held_capacity;
    mr_syncp_user *users;
    size_t user_count, user_capacity;
    uint32_t *first_user; /* by lock */
    uint32_t lock_count;
    mr_map user_numbers; /* (lock, thread) */
} mr_syncp_ideals;

/* False: no memory; mr_syncp_ideals_free is fine in any state after it. */
bool mr_syncp_ideals_init(mr_syncp_ideals *ideals, const mr_trace *trace);
/* There are so many locks, as below, from now on. */
bool mr_syncp_ideals_grow(mr_syncp_ideals *ideals, uint32_t lock_count);
void mr_syncp_ideals_free(mr_syncp_ideals *ideals);

/* The step that the thread is in. */
static inline uint32_t mr_syncp_step_now(const mr_syncp_ideals *ideals, uint32_t thread)
{
    return (uint32_t)ideals->threads[thread].step_count + 1;
}

/*
 * What happens next, in trace order; each false: no memory. Events that are not told do not matter.
 *
 * store: stores what the thread needs now, and unpacks it; for an event that will be asked for. Accesses first,
 * then what they do: publish: a write that another thread reads from, the last event of a thread:
 * ends the step. learn: the thread includes `step` of `source` with this event: a read, a join; for
 * an edge that counts for the event itself, this is told with the event before it in the trace.
 * Nothing happens when that is no news, or of the same thread. acquire, release: outermost, of a lock of several threads.
 * fork: before the child's first event.
 */
bool mr_syncp_store(mr_syncp_ideals *ideals, uint32_t thread);
bool mr_syncp_publish(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event);
bool mr_syncp_learn(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event, uint32_t source,
                    uint32_t step);
bool mr_syncp_acquire(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event, uint32_t lock);
bool mr_syncp_release(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event, uint32_t lock);
bool mr_syncp_fork(mr_syncp_ideals *ideals, uint32_t thread, uint32_t event, uint32_t child);

/* The list of sections open at the end of a step that has ended; step 0: before the first. */
static inline uint32_t mr_syncp_open(const mr_syncp_ideals *ideals, uint32_t thread, uint32_t step)
{
    MR_ASSERT_COSTLY(step <= ideals->threads[thread].step_count);
    return step ? ideals->threads[thread].steps[step - 1].open : MR_NONE;
}

static inline uint32_t mr_syncp_entry(const mr_syncp_ideals *ideals, uint32_t thread, uint32_t step)
{
    return step * 2 + (mr_syncp_open(ideals, thread, step) != MR_NONE);
}

/* Adds to `ideal` (one entry a thread) a row and the steps of `thread` up to `step`. */
void mr_syncp_join(const mr_syncp_ideals *ideals, uint32_t *ideal, uint32_t row, uint32_t thread,
                   uint32_t step);

/* Closes a union of closed ideals. Gives up, with true, as soon as it includes `step` of `thread`;
 * false: closed, and without it. */
bool mr_syncp_close(const mr_syncp_ideals *ideals, uint32_t *ideal, uint32_t thread, uint32_t step);

/* Do two lists of open sections name one lock? */
bool mr_syncp_common_lock(const mr_syncp_ideals *ideals, uint32_t open, uint32_t other);

#endif
