/*
 * cp: causally-precedes (Smaragdakis, Evans, Sadowski, Yi, Flanagan, POPL 2012) over a whole trace
 * in memory.
 *
 * Let TO be the order of the events of a thread and of fork and join, HB happens-before (hb.h), and
 * a section of lock l the events of a thread from an outermost acquire of l to its release; a
 * section that is never released extends to the end of its thread's events. ≺ is the smallest
 * relation with, for sections s1 before s2 of the same lock by different threads,
 *
 *   (a) release(s1) ≺ acquire(s2), when s1 and s2 have conflicting accesses;
 *
 *   (b) release(s1) ≺ acquire(s2), when e1 ≺ e2 for some e1 in s1 and e2 in s2. Because of (c)
 *       this is: when acquire(s1) ≺ the last event of s2;
 *
 *   (c) x ≺ z, when x HB y ≺ z or x ≺ y HB z.
 *
 * a is CP-before b when a TO b or a ≺ b. Conflicting accesses that are not ordered so are reported.
 *
 * The reading is that of wcp.h, and for its reasons: fork and join belong to TO and HB but are no
 * edges of ≺, and the premise of (b) is ≺, not TO. Each rule of WCP gives an order that these rules
 * give, too (there, an edge ends at the access or the release of s2, here at its acquire), so
 *
 *   HB-unordered ⊆ CP-unordered ⊆ WCP-unordered pairs.
 *
 * How: a least fixpoint over vector clocks, in three steps.
 *
 * 1. One pass over the events (cp_graph.h) cuts each thread into *segments*: one begins at the
 *    thread's first event, at its fork, at each join, and at each outermost acquire of a lock of
 *    several threads. What is ≺-before an event, P, is the same for all events of a segment, as
 *    every edge of HB and ≺ that enters a thread enters it where a segment begins. The pass notes
 *    the HB edges between segments, the HB clock H of each release, and by rule (a), for each
 *    section the latest section of another thread that it conflicts with. Releases of one lock are
 *    HB-ordered, so that one knows what the others know.
 *
 * 2. The fixpoint (cp_solve.c), with the section that begins with a segment or ends in it:
 *
 *      P(segment) contains P(s) of each segment s with an HB edge to it;
 *
 *      P(begin of s2) contains H(release of s1), when s1 is a section before s2, by another thread,
 *        that conflicts with s2 or whose acquire is within P(end of s2).
 *
 *    Of the s1 that rule (b) asks for only the last one counts, and they are a prefix: of two
 *    sections of a lock the earlier one is HB-before the later one, so what is after the acquire of
 *    the later one is after that of the earlier one. A later s2 passes no fewer sections than an
 *    earlier one, so its search starts where that of the section before it stopped.
 *
 *    Rule (b) is why CP, unlike WCP, cannot be told as the events come: the end of s2 may bring
 *    news to its begin. Segments get their P in trace order. When the end of a section brings
 *    news, they are carried at once from its begin along the HB edges to those of the segments so
 *    far whose P grows by them, in trace order, which may make other sections bring news. So no
 *    pass over the whole is repeated. All rules are monotone and clocks are bounded, so this ends,
 *    and it ends in the least fixpoint.
 *
 * 3. A pass over the events (cp_walk.h) tells the races (variable.h). As for WCP, a is before b
 *    exactly when a's local time is within P, or within K, the TO clock, of b.
 *
 * Why not the sets of Raptor (Roemer and Bond, Online Set-Based Dynamic Analysis for Sound
 * Predictive Race Detection), which compute the same relation: they keep, for each access and each
 * acquire that is not obsolete, the set of locks and threads that it is CP-before, and another one
 * of those that it is CP-before if an open section turns out to be. Each synchronisation goes
 * through the sets of all of them; the paper reports up to two hours for 10^5 to some 10^6 events.
 * With vector clocks the same takes a small multiple of the time of HB. Where Raptor hands a
 * condition on from one open section to another, here the end of a section simply looks back. What
 * is given up is forgetting: Raptor drops the sets of what is ordered before all that can follow;
 * here the segments stay to the end, without the accesses. Both can judge an access only when the
 * sections around it are closed, so neither has a race at hand when its second access happens.
 * Raptor ends by releasing what is still held; that is how open sections are read here, too.
 *
 * Cost: O(events) expected, and O(threads) for each acquire, fork and join and for each time that
 * a P grows. In the Java traces of docs/results.md one segment in 2,000 or fewer is visited again;
 * in generated traces with up to eight locks held at once, one in four. So it is one pass over the
 * segments and little more. There are traces where it is not: a section pays for the segments
 * between its acquire and its release that its news reach, so when k locks are held over n
 * segments, and each release brings other news, this costs k * n.
 *
 * Memory: 96 bytes an acquire of a shared lock, 40 a fork or join, and the clocks P and H, which
 * neighbours share where nothing is new; in the worst case O(threads) for each of them. And 20
 * bytes and a map slot for each pair of shared lock and contended variable that was accessed under
 * it.
 */
#ifndef MR_ORDER_CP_CP_H
#define MR_ORDER_CP_CP_H

#include "order/detector.h"

/* Every racy event, every static race; the first example of each as race_list.h says. `list` is
 * overwritten and freed with mr_race_list_free, also after an error, which is MR_ERR_MEMORY. */
mr_status mr_cp_find(const mr_trace *trace, const mr_detect_options *options, mr_race_list *list,
                     mr_error *error);

#endif
