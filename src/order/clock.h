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
 * join or copy costs O(threads). A pool and its clocks are used by one thread of ours at a time.
 */
#ifndef MR_ORDER_CLOCK_H
#define MR_ORDER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mr_clock {
    struct mr_clock *next_unused; /* in the pool's list */
    uint32_t references;
    uint32_t entries[];
} mr_clock;

typedef struct mr_clock_pool {
    uint32_t thread_count;
    mr_clock *unused; /* kept for reuse */
} mr_clock_pool;

/* The time of an event of `thread`: `clock` with entry `thread` raised to `local`. With local 0 it
 * is just the clock. Owns one reference when it is kept. */
typedef struct mr_time {
    mr_clock *clock;
    uint32_t thread, local;
} mr_time;

void mr_clock_pool_init(mr_clock_pool *pool, uint32_t thread_count);
/* All clocks must have been dropped before. */
void mr_clock_pool_free(mr_clock_pool *pool);

static inline uint32_t mr_clock_get(const mr_clock *clock, uint32_t thread)
{
    return clock ? clock->entries[thread] : 0;
}

/* One more reference; returns `clock`. */
mr_clock *mr_clock_share(mr_clock *clock);
/* One reference less; sets *clock to NULL. */
void mr_clock_drop(mr_clock_pool *pool, mr_clock **clock);
/* *target becomes a reference to `clock`. */
void mr_clock_set(mr_clock_pool *pool, mr_clock **target, mr_clock *clock);
/* The same for a time. */
void mr_time_set(mr_clock_pool *pool, mr_time *target, mr_time source);

/* *target becomes the entry-wise maximum of itself and `source`; untouched when that changes
 * nothing. False: no memory. */
bool mr_clock_join(mr_clock_pool *pool, mr_clock **target, mr_time source);

/*
 * The same when knowing the event of `source` implies knowing all that `source` knows, which holds
 * for every transitive order: then entry source.thread alone shows, in O(1), that nothing is new.
 */
static inline bool mr_clock_learn(mr_clock_pool *pool, mr_clock **target, mr_time source)
{
    return mr_clock_get(*target, source.thread) >= source.local ||
           mr_clock_join(pool, target, source);
}

#endif
