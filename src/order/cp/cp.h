/*
 * cp: causally-precedes (Smaragdakis, Evans, Sadowski, Yi, Flanagan, POPL 2012) over a whole trace
 * in memory.
 *
 * Words. TO is the order of the events of one thread, of fork and join, and of the edges of
 * edges.h. HB is happens-before (hb.h). A section of lock l is the events of a thread from an
 * outermost acquire of l to its release. A section that is never released extends to the end of
 * its thread. Two sections of a lock exclude each other unless both are shared.
 *
 * The relation. ≺ is the smallest relation that obeys three rules. In (a) and (b), s1 and s2 are
 * sections of the same lock by different threads, s1 comes before s2 in the trace, and they exclude
 * each other.
 *
 *   (a) release(s1) ≺ acquire(s2), when s1 and s2 have conflicting accesses.
 *
 *   (b) release(s1) ≺ acquire(s2), when e1 ≺ e2 for some e1 in s1 and some e2 in s2. By (c) this
 *       condition is the same as: acquire(s1) ≺ the last event of s2.
 *
 *   (c) x ≺ z, when x HB y ≺ z or x ≺ y HB z.
 *
 * Event a is CP-before event b when a TO b or a ≺ b. Conflicting accesses are reported when neither
 * is CP-before the other.
 *
 * Two choices are those of wcp.h, which gives the reasons. Fork and join belong to TO and to HB,
 * but they are no edges of ≺. The premise of (b) is ≺, not TO.
 *
 * Each edge of WCP is also an order in CP: the edge of WCP ends at the access or at the release of
 * s2, the edge of CP ends earlier, at the acquire of s2. Therefore
 *
 *   HB-unordered ⊆ CP-unordered ⊆ WCP-unordered pairs.
 *
 * The algorithm computes a least fixpoint over vector clocks, in three steps.
 *
 * Step 1 (cp_graph.h) is one pass over the events. It cuts each thread into *segments*. A segment
 * begins at the thread's first event, at its fork, at each join, at each outermost acquire of a
 * lock of several threads, and at each event that an edge of edges.h leads to. P of an event is
 * what is ≺-before it. P is the same for all events of a segment, because every edge of HB and of ≺
 * that enters a thread enters it where a segment begins. The pass notes
 *
 *   - the HB edges between segments;
 *   - H of each release: what is HB-before it;
 *   - for rule (a), for each section the latest section of another thread that conflicts with it.
 *     The latest one is enough: the releases of a lock are HB-ordered, so H of the latest release
 *     contains H of the earlier ones.
 *
 * Step 2 (cp_solve.c) is the fixpoint. Two rules say what P contains:
 *
 *   - P of a segment contains P of every segment with an HB edge to it.
 *   - Let section s2 begin with a segment. P of this segment contains H of release(s1) for each
 *     section s1 by another thread, before s2, that conflicts with s2 or whose acquire is in P of
 *     the segment where s2 ends.
 *
 *   Of the sections s1 that rule (b) selects, only the last one counts. They form a prefix of the
 *   lock's sections by other threads: the earlier of two sections is HB-before the later one, so an
 *   event that is after the acquire of the later one is also after the acquire of the earlier one.
 *   A later s2 passes at least the sections that an earlier s2 passes. So the search for s2 starts
 *   where the search for the section before s2 stopped.
 *
 *   Rule (b) is the reason why CP, unlike WCP, cannot be computed while the events come: the end of
 *   s2 can add to P at the begin of s2. The fixpoint gives segments their P in trace order. When
 *   the end of a section adds to P at its begin, the addition is carried along the HB edges at
 *   once, in trace order, to the segments that have a P already and whose P grows by it. In these
 *   segments other sections may end, and add to P at their begins. So no pass over all segments is
 *   repeated. All rules are monotone and the clocks are bounded, so the fixpoint is reached, and it
 *   is the least one.
 *
 * Step 3 (cp_walk.h) is a second pass over the events, which finds the races (variable.h). K of an
 * event is what is TO-before it. As for WCP, a is CP-before b exactly when a's local time is within
 * P or K of b.
 *
 * Raptor (Roemer and Bond, Online Set-Based Dynamic Analysis for Sound Predictive Race Detection)
 * computes the same relation with sets. For each access and each acquire that is not obsolete it
 * keeps the set of locks and threads that this event is CP-before, and the set of those that it is
 * CP-before if an open section turns out to be. Acquires and releases go through the sets of all
 * these events. The paper gives two hours as the limit for each program, which covered hundreds of
 * thousands to millions of events. The vector clocks here take a small multiple of the time of HB.
 * There are three differences and one agreement:
 *
 *   - Raptor hands a condition on from one open section to another; here the end of a section looks
 *     back.
 *   - Raptor drops the sets of an event that has become obsolete; here the segments stay to the
 *     end, without the accesses.
 *   - Raptor, in the paper, has mutexes alone and translates other operations into sections; here
 *     they are edges of TO.
 *   - Both can judge an access only when the sections around it are closed, so neither knows a race
 *     when its second access happens. Raptor simulates the release of the locks that are held at
 *     the end; open sections are treated likewise here.
 *
 * Cost: O(events) expected, and O(threads) for each acquire, fork and join and each time that a P
 * grows. In the Java traces of docs/results.md at most one segment in 2,000 is visited again; in
 * generated traces with up to eight locks held at once it is one in four. The worst case is more: a
 * section visits again the segments between its acquire and its release that its addition reaches.
 * When k locks are held over n segments, and each release adds something else, this costs k * n.
 *
 * Memory: 96 bytes for each acquire of a lock of several threads, 40 for each fork, join and other
 * edge, and the clocks P and H. Neighbours share a clock where nothing is new; in the worst case
 * each clock is O(threads). For each pair of such a lock and a contended variable that was accessed
 * under it: 36 bytes and a map slot.
 */
#ifndef MR_ORDER_CP_CP_H
#define MR_ORDER_CP_CP_H

#include "order/detector.h"

/* Every racy event, every static race; the first example of each as race_list.h says. `list` is
 * overwritten and freed with mr_race_list_free, also after an error, which is MR_ERR_MEMORY. */
mr_status mr_cp_find(const mr_trace *trace, const mr_detect_options *options, mr_race_list *list,
                     mr_error *error);

#endif
