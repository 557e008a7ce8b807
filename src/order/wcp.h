/*
 * wcp: weak-causally-precedes (Kini, Mathur, Viswanathan, PLDI 2017), one event at a time.
 *
 * Let TO be the order of the events of a thread and of fork and join (as in hb.h), HB
 * happens-before (hb.h), and CS(r) the events of r's thread from the matching acquire to the
 * release r. ≺ is the smallest relation with
 *
 *   (a) r ≺ e   for a release r of l and a later access e inside a section of l (released or not),
 * when CS(r) contains an access that conflicts with e (same variable, different threads, one
 * writes); (b) r1 ≺ r2 for releases r1, r2 of the same lock by different threads, r1 earlier, when
 * e1 ≺ e2 for some e1 in CS(r1), e2 in CS(r2); equivalently, when acquire(r1) ≺ r2; (c) x ≺ z when
 * x HB y ≺ z or x ≺ y HB z.
 *
 * a is WCP-before b when a TO b or a ≺ b. This is Definition 3 with three things made precise.
 *
 *   Fork and join are thread order: they are in TO, and in HB for (c), and are not edges of ≺. So
 * they order their own past, but pass nothing on that is ordered by locks alone. Were they edges of
 * ≺, (c) would put everything that HB orders before a fork WCP-before the child, and races that
 * swapping two critical sections before the fork reveals would be lost.
 *
 *   Premise of (b): ≺ as in the definition, not TO. A section of the parent before the fork and one
 * of the child after it are ordered by TO, which says all that every reordering must obey; deriving
 * r1 ≺ r2 would add what is merely HB-before r1, which need not be before r2 in every reordering.
 * For the same reason the two sections of (b) are of different threads, as in Algorithm 1 (queues
 * of t' ≠ t); hence locks that one thread alone uses order nothing. Leaving pairs unordered can
 * only produce more candidates, never lose a race.
 *
 *   Conflicts are between different threads, so the time of a thread's own last section is kept
 * apart from that of the others (the paper's clocks L do not, and then order more than rule (a)).
 *
 * Not ordered by this: a section of l that forks the thread which then takes l. Each reordering has
 * the first release before the second acquire; here such a pair stays a candidate.
 *
 * Clocks of the last event e of thread t: H (all that is HB-before e; kept by hb), P (all that is
 * ≺-before e), K (all that is TO-before e). An edge r ≺ e brings the H of r to P (left half of
 * (c)); P flows along HB (right half); K flows along fork and join only. WCP time of e is the
 * maximum of P and K.
 *
 * Rule (a): for each lock and contended variable, the last section and the last section of another
 * thread that read, and the same for wrote; as releases of one lock are HB-ordered, the last one
 * knows all. Rule (b): see sections.h; sections of other threads are passed in order while acquire
 * ≺ r2, and only the last one passed is joined.
 *
 * Cost: O(threads) an edge that brings news, O(1) expected for each access and contended lock held.
 * Memory: 24 bytes for each pair of shared lock and contended variable accessed under it, and
 * sections.h.
 */
#ifndef MR_ORDER_WCP_H
#define MR_ORDER_WCP_H

#include "hb.h"
#include "sections.h"

typedef struct mr_held {
    uint32_t lock, section;
} mr_held;

/* Shared locks held by a thread, in the order of acquiring. */
typedef struct mr_held_list {
    mr_held *items;
    size_t count, capacity;
} mr_held_list;

/* Sections of one lock that accessed one variable; MR_NONE: there is none. */
typedef struct mr_touch {
    uint32_t last[2];  /* by kind of access: the last section */
    uint32_t other[2]; /* the last section of another thread than last's */
} mr_touch;

typedef struct mr_wcp {
    mr_hb hb;
    mr_sections sections;
    mr_clock **before;         /* P, by thread */
    mr_clock **hard;           /* K, by thread */
    mr_clock **release_before; /* by lock: P of the last release */
    mr_held_list *held;        /* by thread */
    mr_touch *touches;
    size_t touch_count, touch_capacity;
    mr_map touch_numbers; /* (lock, variable) */
} mr_wcp;

/* False: no memory (mr_wcp_free is still fine). */
bool mr_wcp_init(mr_wcp *wcp, const mr_trace *trace);
void mr_wcp_free(mr_wcp *wcp);

/* Feeds the event; afterwards before[t] and hard[t] of its thread t are the event's. False: no
 * memory. */
bool mr_wcp_step(mr_wcp *wcp, uint32_t event);

#endif
