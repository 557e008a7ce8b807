/*
 * detect: the races that a whole-trace order reports, behind one interface for all orders.
 *
 *   streaming orders, on events as they come:
 *     mr_detector_new → mr_detector_feed* → mr_detector_finish → mr_detector_free
 *   every order, on a trace in memory:
 *     mr_detect
 *
 * What each order reports (docs/semantics.md 6), for conflicting accesses e1 before e2:
 *
 *   hb     e1 and e2 unordered by happens-before (hb.h)
 *   fhb    hb with every conflicting pair ordered once e2 has happened, reported or not: e1 is not
 *          before the predecessor of e2 in the smallest order that contains hb and all earlier
 *          conflicting pairs (fhb.c)
 *   shb    e1 not SHB-before the predecessor of e2 (shb.h)
 *   cp     unordered by thread order (with fork and join) and causally-precedes (cp.h)
 *   wcp    unordered by thread order and weak-causally-precedes (wcp.h)
 *   syncp  some reordering that keeps reads-from and the order of each lock's critical sections
 *          ends before both (syncp.h)
 *
 * All operations count. Two atomic accesses do not conflict. A branch, and the begin and end of a
 * thread, order nothing by themselves; edges.h says what posts, atomics and calls that were not
 * recorded order. For syncp these are no edges of an order, but what a reordering has to keep.
 */
#ifndef MR_ORDER_DETECT_H
#define MR_ORDER_DETECT_H

#include "base/progress.h"
#include "race_list.h"
#include "relation.h"
#include "trace/events.h"
#include "trace/opaque.h"
#include "trace/outlook.h"

typedef struct mr_detect_options {
    uint32_t most_examples;    /* event pairs kept of each static race; 0 counts as 1 */
    bool keep_events;          /* keep the numbers of the racy events, too */
    const mr_outlook *outlook; /* NULL: not known; on loan */
    mr_opaque opaque;          /* what calls that were not recorded mean */
    /* the edges of the calls in that sense, of the whole trace, on loan; NULL: not known */
    const mr_opaque_edges *edges;
    const mr_progress *progress; /* NULL: nobody wants to know */
} mr_detect_options;

typedef struct mr_detector mr_detector;

/* `relation` is a streaming one. NULL: no memory. */
mr_detector *mr_detector_new(mr_relation relation, const mr_detect_options *options);
void mr_detector_free(mr_detector *detector); /* NULL is fine */

/* Takes the next events. MR_ERR_MEMORY; MR_ERR_UNSUPPORTED with the event's number in the text at
 * an mbegin when the edges of the calls are not known and `opaque` is not MR_OPAQUE_IGNORE: load
 * the trace then. After an error no more can be fed, but what was found so far can be finished. */
mr_status mr_detector_feed(mr_detector *detector, const mr_events *events, mr_error *error);

/* Hands the races over; `list` is overwritten and freed with mr_race_list_free. */
mr_status mr_detector_finish(mr_detector *detector, mr_race_list *list, mr_error *error);

/* Any order on a trace in memory, all of it. What `options` has no outlook or edges for is made.
 * `list` is overwritten and freed with mr_race_list_free, also after an error. */
mr_status mr_detect(mr_relation relation, const mr_trace *trace, const mr_detect_options *options,
                    mr_race_list *list, mr_error *error);

#endif
