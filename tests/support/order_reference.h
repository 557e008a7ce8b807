/*
 * order_reference: the orders straight from their definitions, as relations on the events of a
 * small trace, closed by brute force. Shares nothing with src/order but the names of the relations;
 * does not use the trace's `link`.
 *
 *   hard    the events of each thread in their order; a fork before the thread's events and before
 *           its joins; the events of a thread before its joins; a post before the wait that takes
 * its unit; an atomic write before the atomic reads that see it; the alloc of an object before
 * the accesses of its variables and its free; what calls that were not recorded put before an
 * event. Transitive. hb      hard, and release → later acquire of the same lock
 * (outermost pairs of different threads, not both shared). Transitive. wcp     hard, and ≺: the
 * smallest relation with rules (a), (b), (c) of Definition 3 of the WCP paper, in the reading of
 * src/order/wcp.h. cp      hard, and causally-precedes: the smallest relation with rules (a), (b),
 * (c) of Definition 2.2 of the Raptor paper, in the same reading (see add_cp_rules). shb     hb,
 * and each read after the last write before it (SHB paper, Definition 3.2). Transitive. fhb     hb,
 * and each access after all earlier ones that it conflicts with. Transitive. c17     what
 * c17_reference.h says, for the second event of a pair. syncp   no order of
 * events: mr_reference_cut is what must have happened before a pair.
 *
 * In hard, hb, wcp and cp, what is before an atomic read only because of the write that it sees is
 * not before it (but before what comes after it): src/order/edges.h.
 *
 * A free conflicts with the accesses of its object's variables, as a write that no read sees. With
 * rule 7 of docs/semantics.md 2, shb and syncp do not report an access before a free that the
 * reordering has.
 *
 * A critical section that is never released extends to the end of its thread's events. An access
 * belongs to all sections that its thread holds open.
 */
#ifndef MR_TESTS_SUPPORT_ORDER_REFERENCE_H
#define MR_TESTS_SUPPORT_ORDER_REFERENCE_H

#include "order/relation.h"
#include "trace/trace.h"

enum { MR_REFERENCE_EVENTS = 64 };

/* Bit b of row a: event a is before or equal to event b (in `strong` and `causal`: a ≺ b, never
 * equal). */
typedef struct mr_order_matrix {
    uint64_t rows[MR_REFERENCE_EVENTS];
} mr_order_matrix;

typedef struct mr_order_reference {
    const mr_trace *trace;
    /* critical sections: acquire, release (MR_NONE: never released), and their events as a set */
    uint32_t begin[MR_REFERENCE_EVENTS], end[MR_REFERENCE_EVENTS];
    uint64_t section[MR_REFERENCE_EVENTS];
    uint32_t section_count;
    uint64_t conflicts[MR_REFERENCE_EVENTS]; /* of each event, in both directions */
    uint64_t opaque[MR_REFERENCE_EVENTS];    /* of each event: what calls put directly before it */
    mr_order_matrix hard, messages, hb, strong, wcp, causal, cp, shb, fhb, c17;
} mr_order_reference;

/* The trace has at most MR_REFERENCE_EVENTS events and outlives the reference. */
void mr_order_reference_build(mr_order_reference *reference, const mr_trace *trace);

static inline bool mr_order_matrix_has(const mr_order_matrix *matrix, uint32_t a, uint32_t b)
{
    return matrix->rows[a] >> b & 1;
}

/* From where hard edges, but for those between atomic accesses, and edges of locks lead to the event.
 */
uint64_t mr_reference_edges_into(const mr_order_reference *reference, uint32_t event);

bool mr_reference_conflict(const mr_trace *trace, uint32_t a, uint32_t b);

/* Does the relation report the events first < second? False when they do not conflict. */
bool mr_reference_reports(const mr_order_reference *reference, mr_relation relation, uint32_t first,
                          uint32_t second);

/* Are the conflicting events first < second an SHB race (Theorem 3.3): is `first` not SHB-before
 * the predecessor of `second` in its thread (its fork, when it is the thread's first event)? */
bool mr_reference_shb_race(const mr_order_reference *reference, uint32_t first, uint32_t second);

/* The same for happens-before of C17, in the trace up to the second event: is it a memory-order race
 * of that order (docs/semantics.md 8)? */
bool mr_reference_c17_race(const mr_order_reference *reference, uint32_t first, uint32_t second);

/* The events of every reordering after which both events are next, with reads-from and the order of
 * each lock's sections kept: the smallest set with what is before the two events in their threads
 * (and their forks), closed under thread order, fork, join, reads-from, and "of two sections of one
 * lock that have begun in the set, the earlier is released in it". */
uint64_t mr_reference_cut(const mr_order_reference *reference, uint32_t first, uint32_t second);

#endif
