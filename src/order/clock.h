/*
 * clock: vector clocks (Mattern 1988), the time stamps of the partial orders.
 *
 * Each thread has a *local time*, a counter that starts at 1 and grows by one after every event of
 * the thread that publishes its clock: a release of a shared lock, a fork, and in SHB a write of a
 * contended variable. (A join reads the clock of a thread that has no more events.) A clock has one
 * 32-bit entry a thread: entry u is a local time of thread u and means "the events of u up to this
 * local time are before me", 0 for none.
 *
 * The events of u between two publications share a local time and become known to others only
 * together, by the later publication. So one comparison is exact for any two events of different
 * threads:
 *
 *   a is before b  iff  local time of a <= entry thread(a) of the clock of b.
 *
 * A thread's own entry in its own clock is not kept up to date: the local time stands for it.
 *
 * Clocks are counted references, copied on write: an unchanged clock costs nothing when a lock, a
 * section, a variable and a thousand events of a window share it. NULL is the clock of zeros. A
 * join or copy costs O(threads) up to MR_CLOCK_FLAT threads. With more threads the entries of new
 * clocks are a tree (clock_tree.h), of which clocks share what is equal. Only one thread of this process at a time may use a pool and its
 * clocks.
 *
 * The number of threads may grow: a clock made before is shorter, and what it lacks is 0.
 */
#ifndef MR_ORDER_CLOCK_H
#define MR_ORDER_CLOCK_H

#include "base/assert.h"
#include "base/slab.h"
#include "clock_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads up to which the entries of a clock are an array. */
enum { MR_CLOCK_FLAT = 128 };

typedef struct mr_clock {
    uint32_t references;
    uint32_t count;     /* of entries; of other threads they are 0, or in the tree */
    mr_clock_tree tree; /* without a root when there are entries */
    uint32_t entries[];
} mr_clock;

typedef struct mr_clock_pool {
    uint32_t entry_count; /* of the clocks made from now on: the threads, rounded up, or 0 … */
    bool has_trees;       /* … when they are trees */
    mr_slab slab;         /* the clocks */
} mr_clock_pool;

/* The time of an event of `thread`: `clock` with entry `thread` raised to `local`. With local 0 it
 * is just the clock. Owns one reference when it is kept. */
typedef struct mr_time {
    mr_clock *clock;
    uint32_t thread, local;
} mr_time;

/* A zeroed pool is one for no threads. There may be `thread_count` threads from now on. */
void mr_clock_pool_grow(mr_clock_pool *pool, uint32_t thread_count);
/* All clocks must have been dropped before. */
void mr_clock_pool_free(mr_clock_pool *pool);

static inline uint32_t mr_clock_get(const mr_clock *clock, uint32_t thread)
{
    if (!clock)
        return 0;
    if (thread < clock->count)
        return clock->entries[thread];
    return clock->tree.root ? mr_clock_tree_get(clock->tree, thread) : 0;
}

/* One more reference; returns `clock`. */
static inline mr_clock *mr_clock_share(mr_clock *clock)
{
    if (clock)
        clock->references++;
    return clock;
}

/* Takes a clock without references back. */
void mr_clock_recycle(mr_clock_pool *pool, mr_clock *clock);

/* One reference less; sets *clock to NULL. */
static inline void mr_clock_drop(mr_clock_pool *pool, mr_clock **clock)
{
    mr_clock *old = *clock;
    *clock = NULL;
    MR_ASSERT_COSTLY(!old || old->references > 0);
    if (old && !--old->references)
        mr_clock_recycle(pool, old);
}

/* *target becomes a reference to `clock`. */
static inline void mr_clock_set(mr_clock_pool *pool, mr_clock **target, mr_clock *clock)
{
    if (*target == clock)
        return;
    mr_clock_share(clock);
    mr_clock_drop(pool, target);
    *target = clock;
}

/* The same for a time. */
static inline void mr_time_set(mr_clock_pool *pool, mr_time *target, mr_time source)
{
    mr_clock_set(pool, &target->clock, source.clock);
    target->thread = source.thread;
    target->local = source.local;
}

/* *target becomes the entry-wise maximum of itself and `source`; untouched when that changes
 * nothing. False: no memory. */
bool mr_clock_join(mr_clock_pool *pool, mr_clock **target, mr_time source);

/* *target becomes the entry-wise minimum of both, a new clock; it is NULL before. False: no memory. */
bool mr_clock_meet(mr_clock_pool *pool, mr_clock **target, mr_time one, const mr_clock *two);

/*
 * The same as mr_clock_join when knowing the event of `source` implies knowing all that `source` knows, which holds
 * for every transitive order: then entry source.thread alone shows, in O(1), that nothing is new.
 */
static inline bool mr_clock_learn(mr_clock_pool *pool, mr_clock **target, mr_time source)
{
    return mr_clock_get(*target, source.thread) >= source.local ||
           mr_clock_join(pool, target, source);
}

#endif
