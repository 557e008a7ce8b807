/*
 * hb: happens-before (Lamport 1978) by vector clocks, one event at a time.
 *
 * The smallest partial order that contains
 *   - the order of the events of each thread;
 *   - fork(u) → the events of u, and every join(u), even when u did nothing;
 *   - the events of u → every join(u);
 *   - rel → every later acq and racq of the lock, rrel → every later acq of it; nothing between two
 *     shared sections. Inner acquires and releases of a lock that its thread holds already in that
 *     way are no synchronisation;
 *   - what edges.h is for: units of semaphores, atomic variables, calls that were not recorded.
 *
 *   mr_hb_grow → mr_hb_acquire, mr_hb_release, mr_hb_fork, mr_hb_join … → mr_hb_free
 *
 * The events come in trace order, each with numbers below those that mr_hb_grow was told. A step
 * costs O(threads) at acq, fork and join when they bring news, else O(1).
 */
#ifndef MR_ORDER_HB_H
#define MR_ORDER_HB_H

#include "base/assert.h"
#include "base/map.h"
#include "clock.h"
#include "trace/op.h"

typedef struct mr_hb_thread {
    mr_clock *clock; /* what happened before its last event */
    uint32_t local;  /* local time of its next event */
} mr_hb_thread;

typedef struct mr_hb_lock {
    mr_time release;  /* time of its last rel */
    mr_clock *shared; /* the times of all rrel since, joined */
    uint32_t depth;   /* acq that are not released */
} mr_hb_lock;

/* Zero-initialise. */
typedef struct mr_hb {
    mr_clock_pool pool;
    mr_hb_thread *threads;
    mr_hb_lock *locks;
    size_t thread_count, thread_capacity, lock_count, lock_capacity;
    mr_map share_depths; /* (lock, thread): racq that are not released */
} mr_hb;

/* There are so many threads and locks from now on; fewer than before is fine. False: no memory. */
bool mr_hb_grow(mr_hb *hb, uint32_t thread_count, uint32_t lock_count);
void mr_hb_free(mr_hb *hb);

/* The time of the last event of `thread` and of all before it, as a loan. */
static inline mr_time mr_hb_now(const mr_hb *hb, uint32_t thread)
{
    MR_ASSERT_COSTLY(thread < hb->thread_count && hb->threads[thread].local > 0);
    return (mr_time){hb->threads[thread].clock, thread, hb->threads[thread].local};
}

/* Is this acquire an outermost one? To be asked once for each acquire, and likewise for each
 * release. */
static inline bool mr_hb_enters(mr_hb *hb, uint32_t lock)
{
    return hb->locks[lock].depth++ == 0;
}

static inline bool mr_hb_leaves(mr_hb *hb, uint32_t lock)
{
    MR_ASSERT(hb->locks[lock].depth > 0);
    return --hb->locks[lock].depth == 0;
}

/* The same for racq and rrel. `*enters`: is it an outermost one? False: no memory. */
bool mr_hb_enters_shared(mr_hb *hb, uint32_t thread, uint32_t lock, bool *enters);
bool mr_hb_leaves_shared(mr_hb *hb, uint32_t thread, uint32_t lock, bool *leaves);

/*
 * The steps. Afterwards the clock of the event's thread is the event's clock, while its local time
 * is the one that the thread had before the step. Acquires and releases: outermost ones only.
 * False: no memory.
 */
static inline bool mr_hb_acquire(mr_hb *hb, uint32_t thread, uint32_t lock)
{
    const mr_hb_lock *by = &hb->locks[lock];
    mr_clock **clock = &hb->threads[thread].clock;
    return (by->release.thread == thread || mr_clock_learn(&hb->pool, clock, by->release)) &&
           (!by->shared || mr_clock_join(&hb->pool, clock, (mr_time){.clock = by->shared}));
}

static inline void mr_hb_release(mr_hb *hb, uint32_t thread, uint32_t lock)
{
    mr_hb_lock *by = &hb->locks[lock];
    mr_time_set(&hb->pool, &by->release, mr_hb_now(hb, thread));
    if (by->shared)
        mr_clock_drop(&hb->pool, &by->shared);
    hb->threads[thread].local++;
}

static inline bool mr_hb_acquire_shared(mr_hb *hb, uint32_t thread, uint32_t lock)
{
    const mr_time *release = &hb->locks[lock].release;
    return release->thread == thread ||
           mr_clock_learn(&hb->pool, &hb->threads[thread].clock, *release);
}

static inline bool mr_hb_release_shared(mr_hb *hb, uint32_t thread, uint32_t lock)
{
    mr_time now = mr_hb_now(hb, thread);
    hb->threads[thread].local++;
    return mr_clock_join(&hb->pool, &hb->locks[lock].shared, now);
}

bool mr_hb_fork(mr_hb *hb, uint32_t thread, uint32_t child);
bool mr_hb_join(mr_hb *hb, uint32_t thread, uint32_t child);

/* Any of these by the operation: acquires and releases (outermost), forks and joins. */
static inline bool mr_hb_sync(mr_hb *hb, mr_op op, uint32_t thread, uint32_t operand)
{
    switch ((mr_op)op) {
    case MR_OP_ACQUIRE:
        return mr_hb_acquire(hb, thread, operand);
    case MR_OP_RELEASE:
        mr_hb_release(hb, thread, operand);
        return true;
    case MR_OP_SHARED_ACQUIRE:
        return mr_hb_acquire_shared(hb, thread, operand);
    case MR_OP_SHARED_RELEASE:
        return mr_hb_release_shared(hb, thread, operand);
    case MR_OP_FORK:
        return mr_hb_fork(hb, thread, operand);
    case MR_OP_JOIN:
        return mr_hb_join(hb, thread, operand);
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_WAIT:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    MR_ASSERT(!"this operation comes in another way");
    return false;
}

#endif
