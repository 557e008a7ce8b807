/*
 * edges: what orders events of different threads besides locks, forks and joins, in every
 * streaming order (docs/semantics.md 6):
 *
 *   - post → the wait that takes its unit, the oldest unit first. Another unit would do in another
 *     reordering; the orders keep to the one that was taken;
 *   - an atomic write or update → the atomic reads and updates that read from it. With a plain
 *     access on one side there is no edge;
 *   - the edges of calls that were not recorded (opaque/barrier_pairs.h).
 *
 * They are hard edges, like those of fork and join: of happens-before, of TO in WCP (wcp.h).
 *
 * An edge into a wait or from a call counts for the event itself. One into an atomic read counts
 * for what comes after it: what the read sees does not matter when the read itself is the second
 * access of a pair (docs/semantics.md 3), so that is judged without the edge.
 *
 * This module keeps the time of each event with such an edge until the event at its other end
 * comes: a queue for each semaphore, the last atomic write of each variable, and the first event of
 * each edge of a call. O(threads) an edge that brings news, O(1) expected otherwise.
 */
#ifndef MR_ORDER_EDGES_H
#define MR_ORDER_EDGES_H

#include "history.h"
#include "opaque/barrier_pairs.h"
#include "wcp.h"

/* A unit of a semaphore that was given and not taken yet, or a place for one. */
typedef struct mr_unit {
    mr_stamp stamp;
    uint32_t next; /* number + 1, 0: last */
} mr_unit;

typedef struct mr_unit_queue {
    uint32_t first, last; /* numbers + 1, 0: none */
} mr_unit_queue;

/* An event with edges of calls to others. */
typedef struct mr_edge_source {
    uint32_t event;
    uint32_t edges_left;
    mr_stamp stamp;
} mr_edge_source;

/* Zero-initialise; mr_edges_free before the clocks' pool goes. */
typedef struct mr_edges {
    mr_map atomic_numbers; /* variable → number in `atomics` */
    mr_stamp *atomics;     /* the last atomic write; time.local 0: none since the last plain one */
    size_t atomic_count, atomic_capacity;
    mr_unit_queue *queues; /* by semaphore */
    size_t queue_count, queue_capacity;
    mr_unit *units;
    size_t unit_count, unit_capacity;
    uint32_t free_unit;             /* number + 1, 0: none */
    const mr_barrier_edges *opaque; /* borrowed, NULL: none */
    size_t next_edge;
    mr_edge_source *sources; /* in the order of their events */
    size_t source_count, next_source;
} mr_edges;

/* Takes over the edges of calls of the whole trace; `opaque` must outlive them. False: no memory,
 * here and below. */
bool mr_edges_foresee(mr_edges *edges, const mr_barrier_edges *opaque);
/* There are so many semaphores from now on. */
bool mr_edges_grow(mr_edges *edges, uint32_t lock_count);
void mr_edges_free(mr_edges *edges, mr_wcp *wcp);

/* The steps. `wcp` is that of the order, of which hb, fhb and shb use wcp.hb alone. */
bool mr_edges_post(mr_edges *edges, mr_wcp *wcp, uint32_t thread, uint32_t semaphore);
bool mr_edges_wait(mr_edges *edges, mr_wcp *wcp, uint32_t thread, uint32_t semaphore);

/* An atomic access, when it has been judged: follow what it read from, then publish what it wrote.
 */
bool mr_edges_atomic_follow(const mr_edges *edges, mr_wcp *wcp, const mr_access *access);
bool mr_edges_atomic_publish(mr_edges *edges, mr_wcp *wcp, const mr_access *access);

static inline bool mr_edges_atomic(mr_edges *edges, mr_wcp *wcp, const mr_access *access)
{
    return mr_edges_atomic_follow(edges, wcp, access) &&
           mr_edges_atomic_publish(edges, wcp, access);
}

/* A plain write of a variable that has been written atomically: the edges from there end. */
void mr_edges_plain_write(mr_edges *edges, mr_wcp *wcp, uint32_t variable);

/* The next event that has an edge of a call, MR_NONE: there is none. Enter it before its step, and
 * leave it after. */
static inline uint32_t mr_edges_next(const mr_edges *edges)
{
    uint32_t to = edges->opaque && edges->next_edge < edges->opaque->count
                      ? edges->opaque->items[edges->next_edge].to
                      : MR_NONE;
    uint32_t from = edges->next_source < edges->source_count
                        ? edges->sources[edges->next_source].event
                        : MR_NONE;
    return from < to ? from : to;
}

bool mr_edges_enter(mr_edges *edges, mr_wcp *wcp, uint32_t event, uint32_t thread);
void mr_edges_leave(mr_edges *edges, mr_wcp *wcp, uint32_t event, uint32_t thread);

#endif
