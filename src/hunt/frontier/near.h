/*
 * near: candidates that are no races yet, and how close a run comes to them.
 *
 * A candidate is a pair of places of the hybrid relation (order/hybrid.h): no lock and no message keeps
 * the two accesses apart. Where the engine has not found it to be a race, something that one of the
 * threads needs comes after the access of the other: a value, or the end of a section. The trace then
 * has no reordering in which both threads stand before their accesses. But it may have one in which one
 * thread stands there and the other one is at most one event away from what is impossible, as far as is
 * known: then the other thread goes on alone, and may get to its place in a way that the trace does not
 * show (Racageddon, PPoPP 2014, section 4: a schedule improved towards a candidate).
 */
#ifndef MR_HUNT_NEAR_H
#define MR_HUNT_NEAR_H

#include "base/error.h"
#include "tasks.h"
#include "way.h"

/* Two accesses of a candidate, first before second in the trace. */
typedef struct mr_near_pair {
    uint32_t first, second;
} mr_near_pair;

typedef struct mr_near_pairs {
    mr_near_pair *items; /* one for each pair of places; owned */
    size_t count;
} mr_near_pairs;

/* The candidates of a trace. Free with mr_near_free, also after an error. MR_ERR_MEMORY. */
mr_status mr_near_find(mr_near_pairs *candidates, const mr_trace *trace, mr_error *error);
void mr_near_free(mr_near_pairs *candidates);

/* Finds the events after which the thread of `stays` stands before that access, and the thread of
 * `goes` is as far towards that one as a search by halves finds; it stands before `*at`. MR_WAY_NONE:
 * not even before its first event. O(log(events) · a way). */
mr_way_answer mr_near_way(const mr_trace *trace, const mr_way_index *index, uint32_t stays,
                          uint32_t goes, uint32_t *at, mr_u32s *events);

#endif
