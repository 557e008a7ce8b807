/*
 * between: the events between the two accesses of a race that must come before them, found without
 * a window. This is the set of solver/linearise.h in model rf, in a window that begins with the
 * first access and ends with the second one. hb (of its first race), fhb and shb promise that it
 * does not contain the first access; then the set in trace order is a witness.
 *
 * One pass over the events from the second access back to the first. The set has the events of each
 * thread before some event, its *end*. An event of the set raises the ends of other threads: of the
 * one that forks its own, of one that it joins, of the one whose write it sees or whose post it
 * takes, and of those from which an edge of a call or a life leads to it. All of these stand before
 * it, so the pass still comes to them. Only a release may stand later: that of a critical section
 * which the set enters, when it has a later acquire of the lock. Then the pass starts again from
 * that release.
 *
 * O(events between) for each start, and at most MR_BETWEEN_STARTS of them. A window of the same
 * length takes more than thirty times as long. Memory: 4 bytes a thread and 8 a lock.
 */
#ifndef MR_SWEEP_BETWEEN_H
#define MR_SWEEP_BETWEEN_H

#include "base/halt.h"
#include "opaque/barrier_pairs.h"

enum { MR_BETWEEN_STARTS = 16 };

/* The last acquires of a lock in the set, each as event + 1; 0: none. */
typedef struct mr_between_lock {
    uint32_t any, exclusive;
} mr_between_lock;

typedef struct mr_between {
    const mr_trace *trace;
    const mr_barrier_edges *edges;
    const mr_halt *halt;
    uint32_t *ends;         /* one a thread: the set has its events before this one */
    mr_between_lock *locks; /* one a lock */
    mr_u32s acquired;       /* the locks that have an acquire in the set */
    uint32_t first, second;
} mr_between;

/* The trace and the edges of its calls and lives are on loan. `halt` may be NULL. False: no memory;
 * the caller calls mr_between_free in every case. */
bool mr_between_init(mr_between *between, const mr_trace *trace, const mr_barrier_edges *edges,
                     const mr_halt *halt);
void mr_between_free(mr_between *between);

/* Adds the set to `events`, in trace order, and `*found` is true. Or it is false: the set contains
 * the first access or a free of what it accesses, the pass was started too often, or the run was
 * asked to end. first < second. False: no memory. */
bool mr_between_find(mr_between *between, uint32_t first, uint32_t second, mr_u32s *events,
                     bool *found);

#endif
