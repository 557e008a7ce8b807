/*
 * detector: the races that a streaming order (hb, fhb, shb, wcp, c17, hybrid) reports, on events as they come.
 * detect/detect.h says what each order reports, and serves all orders on a trace in memory.
 *
 *   mr_detector_new → mr_detector_feed* → mr_detector_finish → mr_detector_free
 */
#ifndef MR_ORDER_DETECTOR_H
#define MR_ORDER_DETECTOR_H

#include "base/halt.h"
#include "base/progress.h"
#include "opaque/barrier_pairs.h"
#include "race_list.h"
#include "relation.h"
#include "trace/events.h"
#include "trace/outlook.h"
#include "wanted.h"

typedef struct mr_detect_options {
    uint32_t most_examples;    /* event pairs kept of each static race; 0 counts as 1 */
    bool keep_events;          /* keep the numbers of the racy events, too */
    const mr_outlook *outlook; /* NULL: not known; on loan */
    mr_opaque opaque;          /* what calls that were not recorded mean */
    /* the edges of the calls in that sense, of the whole trace, on loan; NULL: not known */
    const mr_barrier_edges *edges;
    /* Only the static races of these pairs are to be found; others may be missing. syncp then counts no
     * racy events; cp does not look at it. On loan; NULL: all. */
    const mr_wanted *wanted;
    const mr_progress *progress; /* NULL: nobody wants to know */
    /* Called when a streaming order has found more static races in a trace in memory: those so far. NULL: nobody asks. */
    void (*races)(const void *context, const mr_race_list *list);
    const void *context;
    /* NULL: nobody stops the search. A search that is halted ends with MR_ERR_HALTED, and has the races
     * of the events that it has seen. */
    const mr_halt *halt;
    /* mr_detect of hb, fhb and shb: the screen (screen.h) of the trace, to be used if there is one, else what was made, for the
     * caller to free. NULL: nobody keeps it. */
    struct mr_screen **screen;
} mr_detect_options;

typedef struct mr_detector mr_detector;

/* `relation` is a streaming one. NULL: no memory. */
mr_detector *mr_detector_new(mr_relation relation, const mr_detect_options *options);
void mr_detector_free(mr_detector *detector); /* NULL is fine */

/* Takes the next events. MR_ERR_HALTED, at most some thousand events after the halt was asked for;
 * MR_ERR_MEMORY; MR_ERR_UNSUPPORTED with the event's number in the text at an
 * mbegin when the edges of the calls are not known and `opaque` is not MR_OPAQUE_IGNORE, and at
 * an alloc or free when it is not known, or told too late, which variables belong to objects: load
 * the trace then. After an error no more can be fed, but what was found so far can be finished. */
mr_status mr_detector_feed(mr_detector *detector, const mr_events *events, mr_error *error);

/* The races so far. */
const mr_race_list *mr_detector_list(const mr_detector *detector);
/* Has it found a race of these two locations so far? */
bool mr_detector_has(const mr_detector *detector, uint32_t location, uint32_t other);

/* Hands the races over; `list` is overwritten and freed with mr_race_list_free. */
mr_status mr_detector_finish(mr_detector *detector, mr_race_list *list, mr_error *error);

#endif
