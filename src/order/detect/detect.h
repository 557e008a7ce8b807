/*
 * detect: the races that any whole-trace order reports on a trace in memory: one interface for all
 * orders. The streaming orders take events as they come, too (order/detector.h).
 *
 * What each order reports (docs/semantics.md 6), for conflicting accesses e1 before e2:
 *
 *   hb     e1 and e2 unordered by happens-before (hb.h)
 *   fhb    hb with every conflicting pair ordered once e2 has happened, reported or not: e1 is not
 *          before the predecessor of e2 in the smallest order that contains hb and all earlier
 *          conflicting pairs (fhb.c)
 *   shb    e1 not SHB-before the predecessor of e2 (shb.c)
 *   cp     unordered by thread order (with fork and join) and causally-precedes (cp.h)
 *   wcp    unordered by thread order and weak-causally-precedes (wcp.h)
 *   syncp  some reordering that keeps reads-from and the order of each lock's critical sections
 *          ends before both (syncp.h)
 *
 *   c17    unordered by happens-before of C17 with write → read edges (memory-order races,
 *          docs/semantics.md 8), or one of shb (c17_feed.c)
 *   hybrid unordered by thread order, fork, join and messages, with lock sets that do not exclude
 *          each other (hybrid.h)
 *
 * All operations count. Two atomic accesses do not conflict. A branch, and the begin and end of a
 * thread, order nothing by themselves; edges.h says what posts, atomics and calls that were not
 * recorded order. For syncp these are no edges of an order, but what a reordering has to keep.
 */
#ifndef MR_ORDER_DETECT_H
#define MR_ORDER_DETECT_H

#include "order/detector.h"

/* Runs an order on a whole trace in memory. An outlook or edges that `options` lacks are made.
 * `list` is overwritten and freed with mr_race_list_free, also after an error. When it was halted
 * (MR_ERR_HALTED), the list is that of its `seen_events`. */
mr_status mr_detect(mr_relation relation, const mr_trace *trace, const mr_detect_options *options,
                    mr_race_list *list, mr_error *error);

#endif
