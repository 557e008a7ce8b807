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
 * 2. The fixpoint (cp_solve.c):
 *
 *      P(segment) contains P of each segment with an HB edge to it;
 *      P(first segment of s2) contains H of the release of the *predecessor* of s2: the last
 *        section before s2 by another thread that conflicts with it or whose acquire is within P
 *        of the last segment of s2.
 *
 *    What rule (b) passes is a prefix of the sections of the lock: of two of them the earlier is
 *    HB-before the later one. A later s2 passes no fewer sections than an earlier one. So the
 * search for the predecessor starts where the section of the lock before it stopped. Rule (b) is
 * why CP, unlike WCP, cannot be told as the events come: the end of s2 may show that its beginning
 * has a predecessor. Segments get their P in trace order; when the end of a section brings a
 * predecessor, the news is carried at once from the section's first segment along the HB edges, to
 * just those of the segments so far whose P grows, in trace order again. The work that a section's
 * news causes stays between its acquire and its release; it is little unless sections are long and
 * nested. All rules are monotone and clocks are bounded, so this ends, and it ends in the least
 * fixpoint, in whatever order the segments are taken.
 *
 * 3. A pass over the events finds the races (cp_races.h): a is CP-before b exactly when a's local
 *    time is within P or within K, the TO clock, of b.
 *
 * Why not Raptor's sets (Roemer, Bond, Online Set-Based Dynamic Analysis for Sound Predictive Race
 * Detection): they keep, for each access and each acquire that is not obsolete, a set of the locks
 * and threads that it is ordered to, and another one of those that it may come to be ordered to
 * depending on open sections. Every event that hands something on goes through the sets of all
 * owners, and the paper reports an hour or two for 10^6 events. Here the same relation takes a
 * small multiple of the time of HB. What is given up is forgetting: Raptor drops the sets of an
 * access when all that can follow is ordered after it, while the segments stay to the end. In both,
 * what is decided at the end of a section reaches back to its beginning, so an access cannot be
 * judged before the sections around it are closed.
 *
 * Cost: O(events) expected plus O(threads) for each segment and each growth of a P. A segment is
 * taken once plus once for each time that its P grows later. Measured on Java traces of 10^4 to
 * 10^7 events (docs/performance.md): the number of segments taken again is far below the number of
 * segments, so the fixpoint costs about one sweep.
 *
 * Memory: 64 bytes a segment, and P and H, which neighbours share where nothing is new; in the
 * worst case O(segments * threads). For each pair of shared lock and contended variable that was
 * accessed under it 20 bytes and a map slot.
 */
#ifndef MR_ORDER_CP_H
#define MR_ORDER_CP_H

#include "detect.h"

/* The races of the trace, all of it, by `relation` CP of detect.h. `list` is overwritten and freed
 * with mr_race_list_free, also after an error. MR_ERR_MEMORY. */
mr_status mr_cp_find(const mr_trace *trace, const mr_detect_options *options, mr_race_list *list,
                     mr_error *error);

#endif
