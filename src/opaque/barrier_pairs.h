/*
 * barrier_pairs: the order that calls whose inside was not recorded impose (docs/semantics.md 2.5;
 * BarrierPairs, Algorithms 2 and 3 of the RDIT paper), as edges between events.
 *
 * A *call* is the events of one thread from an mbegin to its mend, or to the end of the thread's
 * events; D is what it can reach. An edge (e, f), e before f in the trace, says: f in a reordering,
 * or f one of the two accesses, needs e before it. The edges are
 *
 *   (1) e in a call c, f in a call c' of another thread, when D(c) and D(c') have a common element;
 *   (2) e in a call c, f an event of another thread that touches D(c), or the other way round: an
 *       access of a variable, any operation on a lock or semaphore, the begin or end of a thread
 *       (without such an event: the thread's first or last event), a free of an object of which
 *       it reaches a variable;
 *   (3) e the alloc of an object, f an access of one of its variables or its free (rule 7). This
 *       has nothing to do with calls, but it is the same demand: life_edges.h.
 *
 * An element is a name; it means the variable, the lock or semaphore, and the thread of that name.
 * The name "*" means everything: the call has an element in common with every other call that
 * reaches anything, and every access, lock or semaphore operation, begin and end touches it.
 *
 * Only the edges are listed that do not follow from others and program order: into f from the last
 * such event before f of each other thread, unless that one was needed by an earlier event of f's
 * thread already.
 */
#ifndef MR_OPAQUE_BARRIER_PAIRS_H
#define MR_OPAQUE_BARRIER_PAIRS_H

#include "base/model.h"
#include "trace/trace.h"

typedef struct mr_edge {
    uint32_t from, to; /* events of different threads, from < to */
} mr_edge;

typedef struct mr_barrier_edges {
    mr_edge *items; /* in the order of `to` */
    size_t count, capacity;
} mr_barrier_edges;

/* Finds the edges of the trace; none when it has neither calls nor allocs. With MR_OPAQUE_IGNORE
 * those of (3) alone. `edges` is overwritten and freed with
 * mr_barrier_edges_free, also after an error. MR_ERR_MEMORY. O(events · threads + reach sets ·
 * threads); memory O(elements · threads + edges). */
mr_status mr_barrier_edges_find(const mr_trace *trace, mr_opaque mode, mr_barrier_edges *edges,
                                mr_error *error);
void mr_barrier_edges_free(mr_barrier_edges *edges);

/* The index of the first edge into `event` or a later one. O(log edges). */
size_t mr_barrier_edges_from(const mr_barrier_edges *edges, uint32_t event);

#endif
