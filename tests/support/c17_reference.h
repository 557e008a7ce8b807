/*
 * c17_reference: memory-order races straight from their definition (docs/semantics.md 8, C17
 * 5.1.2.4), as edges between the events of a small trace, closed by brute force. Shares nothing
 * with src/order/c17.h and the checker.
 *
 * The edges are those of happens-before (order_reference.h), but for those into atomic reads; what
 * atomic accesses and fences synchronise; and, from each write to the reads that see it, unless both
 * are atomic. The last do not count for a read that is itself the second access of a pair.
 */
#ifndef MR_TESTS_SUPPORT_C17_REFERENCE_H
#define MR_TESTS_SUPPORT_C17_REFERENCE_H

#include "order_reference.h"

/* Bit b of row a: something orders a before b when b is next, after all events before it. `orders`
 * has what its header says of edges, and need not be complete otherwise. */
void mr_c17_reference_build(mr_order_matrix *judged, const mr_order_reference *orders);

#endif
