/*
 * order_reference: the orders straight from their definitions, as relations on the events of a
 * small trace, closed by brute force. Shares nothing with src/order; does not use the trace's
 * `link`.
 *
 *   hard  the events of each thread in their order; a fork before the thread's events and before
 *         its joins; the events of a thread before its joins; transitive
 *
 *   hb    hard, and release → later acquire of the same lock (outermost pairs); transitive
 *
 *   wcp   hard, and ≺: the smallest relation with rules (a), (b), (c) of Definition 3 of the WCP
 *         paper, in the reading of src/order/wcp.h
 *
 *   cp    hard, and the smallest relation with rules (a), (b), (c) of src/order/cp.h
 *
 *   shb   hb, and each read after the last write before it (SHB paper, Definition 3.2); transitive
 */
#ifndef MR_TESTS_SUPPORT_ORDER_REFERENCE_H
#define MR_TESTS_SUPPORT_ORDER_REFERENCE_H

#include "trace/trace.h"

enum { MR_REFERENCE_EVENTS = 64 };

/* Bit b of row a: event a is before or equal to event b (in `strong`: a ≺ b, never equal). */
typedef struct mr_order_matrix {
    uint64_t rows[MR_REFERENCE_EVENTS];
} mr_order_matrix;

typedef struct mr_order_reference {
    const mr_trace *trace;
    uint32_t begin[MR_REFERENCE_EVENTS],
        end[MR_REFERENCE_EVENTS]; /* critical sections: acquire and release
                                     (MR_NONE: never released) */
    uint32_t section_count;
    mr_order_matrix hard, hb, strong, wcp, cp, shb;
} mr_order_reference;

/* The trace has at most MR_REFERENCE_EVENTS events and outlives the reference. */
void mr_order_reference_build(mr_order_reference *reference, const mr_trace *trace);

static inline bool mr_order_matrix_has(const mr_order_matrix *matrix, uint32_t a, uint32_t b)
{
    return matrix->rows[a] >> b & 1;
}

bool mr_reference_conflict(const mr_trace *trace, uint32_t a, uint32_t b);

/* Are the conflicting events first < second an SHB race (Theorem 3.3): is `first` not SHB-before
 * the predecessor of `second` in its thread (its fork, when it is the thread's first event)? */
bool mr_reference_shb_race(const mr_order_reference *reference, uint32_t first, uint32_t second);

#endif
