/*
 * order: partial orders over a whole trace, as labels for the candidates of a window.
 *
 * An order is fed the events of the trace once, in trace order, while windows slide over it; for
 * the events of the current window it answers whether two of them are ordered.
 *
 *   mr_order_new → (mr_order_slide → mr_order_ordered*)* → mr_order_free
 *
 * Sliding costs O(T) per synchronisation and amortised O(1) per access for HB with T threads; WCP
 * as in Theorem 3 of the WCP paper. Memory: one clock per synchronisation in the window, plus the
 * order's state. Knows nothing of windows (the caller says from where to where), candidates or
 * solvers.
 */
#ifndef MR_ORDER_ORDER_H
#define MR_ORDER_ORDER_H

#include "opaque/barrier_pairs.h"
#include "relation.h"
#include "trace/outlook.h"

typedef struct mr_order mr_order;

/* NULL: no memory. The trace must outlive the order. O(events): it makes its outlook. */
mr_order *mr_order_new(const mr_trace *trace, mr_relation relation);
/* The same in O(names), with the outlook of the trace, which must outlive the order;
 * NULL: mr_order_new. */
mr_order *mr_order_foreseen(const mr_trace *trace, mr_relation relation, const mr_outlook *outlook);
void mr_order_free(mr_order *order);

/* Adds the edges of the calls that were not recorded and of allocs (opaque/barrier_pairs.h), for the
 * whole trace.
 * `edges` (NULL: none) must outlive the order. To be called before the first slide. False: no
 * memory. */
bool mr_order_use_edges(mr_order *order, const mr_barrier_edges *edges);

/* Makes [start, end) the events that can be asked about. Neither bound may go down. After an error
 * (MR_ERR_MEMORY) the order can only be freed. */
mr_status mr_order_slide(mr_order *order, uint32_t start, uint32_t end, mr_error *error);

/*
 * Passes over events that nobody asks about, as two events are ordered by what happens from the first to the second. `event` is
 * not below the end of the last slide, and the next slide starts there. HB passes over all events before it. WCP passes over
 * those before the last point at which no thread is in a section of a lock of several threads: all accesses in later sections
 * come after that point. Then [end, end) are the events that can be asked about. Afterwards the clocks know too little of the
 * events passed over, but nobody asks about these any more, and what they say of later events is right.
 * Only the queues of semaphores and the opaque edges are kept up. O(events passed over), far less
 * than a slide; for WCP also O(names). MR_ERR_MEMORY as mr_order_slide.
 */
mr_status mr_order_skip(mr_order *order, uint32_t event, mr_error *error);

/* The bounds of the last slide or skip. */
uint32_t mr_order_start(const mr_order *order);
uint32_t mr_order_end(const mr_order *order);

/* Is `first` before `second` in the order? start <= first < second < end. Events of one thread are
 * ordered; so is what hard edges order, in both relations (wcp.h). What an atomic read follows
 * because of what it sees is before the events after it, not before the read itself (edges.h).
 * O(1). */
bool mr_order_ordered(const mr_order *order, uint32_t first, uint32_t second);

/* For who slides from one access of a pair to the other, as the events between them cost memory: the local time of an event
 * that can be asked about, to be kept, */
uint32_t mr_order_local(const mr_order *order, uint32_t event);
/* and what mr_order_ordered says, with that of `first` (an earlier event, which need not be asked about any more). */
bool mr_order_knows(const mr_order *order, uint32_t first, uint32_t local, uint32_t second);

#endif
