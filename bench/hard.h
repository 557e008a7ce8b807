/*
 * hard: traces on which a race predictor may need far more time or memory than their length asks
 * for.
 *
 * Each family has one reason to be hard, and its sizes are parameters: a large member shows a cliff
 * (make bench-hard), a small one is compared with exhaustive search (tests/test_hard.c). All traces
 * are valid, have values, and are the same everywhere for the same shape.
 *
 *   nested    threads that enter nests of `depth` of twice as many locks, in ascending order or, when
 *             they back off, in any order, and leave a nest of which a lock is held. They access
 *             four variables at all levels and, seldom, without a lock.
 *   hot       one variable that all threads access at `places` places each for reading and for
 *             writing, 95 of 100 accesses under one lock, the others under none.
 *   spin      threads that wait for a flag by reading it under a lock, about `events` / 3 times in
 *             all, until the main thread sets it under that lock. Then all access shared data.
 *   wide      many threads, each with sections of few locks, which access variables of few values;
 *             30 of 1,000 accesses without the lock.
 *   ending    `threads` threads, four alive at a time: each accesses a counter under a lock and ends;
 *             one in a hundred also without the lock.
 *   units     threads that take the one unit of a semaphore as a lock before they access variables, and
 *             give it back; 20 of 1,000 reads are without it.
 *   reusing   threads that take blocks of `places` addresses, write to them, publish them in four slots
 *             under a lock each, free what was there before, and use what they read there.
 *   circles   threads that take two to four of `depth` locks in any order, back off when one is held, and
 *             access a variable of each lock: thousands of possible deadlocks.
 *   refcount  blocks with a count of references: threads take them from `places` slots under a lock each, use a member
 *             under another lock, put new ones there, and free the block of which they drop the last reference. Without
 *             places the main thread gives each of `depth` threads one to a block, round after round.
 *   barrier   threads that write a variable of their own and read that of the next one, with a barrier in between that is made
 *             of a count of arrivals and a flag that changes its sense.
 *   adding    threads that add to one variable without a lock, at `places` places of three
 *             functions.
 */
#ifndef MR_BENCH_HARD_H
#define MR_BENCH_HARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum mr_hard_family {
    MR_HARD_NESTED,
    MR_HARD_HOT,
    MR_HARD_SPIN,
    MR_HARD_WIDE,
    MR_HARD_ENDING,
    MR_HARD_ADDING,
    MR_HARD_UNITS,
    MR_HARD_REUSING,
    MR_HARD_CIRCLES,
    MR_HARD_REFCOUNT,
    MR_HARD_BARRIER,
} mr_hard_family;

typedef struct mr_hard_shape {
    const char *name; /* of the member */
    mr_hard_family family;
    uint32_t events;  /* about so many */
    uint32_t threads; /* beside the main one */
    uint32_t depth;   /* nested, circles: locks; refcount: threads of a round; else not used */
    uint32_t places;  /* hot, adding, units, reusing, refcount */
    uint32_t values;  /* written values are 0 … values - 1 */
    bool backs_off;   /* nested */
    uint64_t seed;
} mr_hard_shape;

/* The members that make bench-hard measures, and of each family some for exhaustive search. */
extern const mr_hard_shape mr_hard_large[], mr_hard_small[];
extern const size_t mr_hard_large_count, mr_hard_small_count;

/* Writes the trace as text. False: no memory; errors of `out` stay with `out`. */
bool mr_hard_write(const mr_hard_shape *shape, FILE *out);

#endif
