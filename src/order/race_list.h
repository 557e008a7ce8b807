/*
 * race_list: what an order found in a trace. Racy events are counted one by one; event pairs are
 * kept as examples, a bounded number for each static race.
 *
 *   racy event     the second access of at least one reported pair
 *   racy location  the location of a racy event
 *   static race    the unordered pair of the locations of a reported pair
 *
 * The example that an order finds first for a static race has the smallest `second` of all its
 * pairs, and among these the latest `first`. Further examples are other pairs that were met.
 *
 *   mr_race_list_init → (mr_race_list_racy | mr_race_list_add)* → mr_race_list_finish
 *     → use → mr_race_list_free
 */
#ifndef MR_ORDER_RACE_LIST_H
#define MR_ORDER_RACE_LIST_H

#include "base/map.h"
#include "base/memory.h"
#include "wanted.h"

typedef struct mr_racing_access {
    uint64_t event;
    uint32_t thread, location;
    uint8_t op; /* mr_op */
} mr_racing_access;

typedef struct mr_race_example {
    uint32_t variable;              /* of a free, the one that the other event accesses */
    mr_racing_access first, second; /* first.event < second.event */
    uint32_t next;                  /* of the same static race; UINT32_MAX: last */
} mr_race_example;

typedef struct mr_static_race {
    uint32_t low, high; /* locations, low <= high */
    uint32_t first_example, last_example;
    uint32_t example_count; /* at least 1 */
} mr_static_race;

typedef struct mr_race_list {
    uint32_t most_examples; /* a static race, at least 1 */
    bool keep_events;
    const mr_wanted *wanted; /* by the owner, on loan; NULL: all pairs */
    uint64_t seen_events;    /* the order has looked at so many, all unless it was halted */
    uint64_t racy_event_count;
    uint64_t last_racy; /* the racy event that was counted last */
    uint32_t racy_location_count, racy_variable_count;
    mr_u32s events; /* the racy events in their order, when keep_events (below 2^32) */

    mr_static_race *races; /* in the order in which they were found: (second, first) ascending */
    size_t race_count, race_capacity;
    mr_race_example *examples;
    size_t example_count, example_capacity;

    mr_map numbers; /* (low, high) to index in `races` */
    uint8_t *location_racy, *variable_racy;
    size_t location_capacity, variable_capacity;
} mr_race_list;

/* `most_examples`: how many pairs to keep of each static race, 0 counts as 1. */
void mr_race_list_init(mr_race_list *list, uint32_t most_examples, bool keep_events);
void mr_race_list_free(mr_race_list *list);

/* Counts a racy event, in trace order; once for each variable of which it races with an access (a
 * free may be about several). False: no memory. */
bool mr_race_list_racy(mr_race_list *list, uint64_t event, uint32_t location, uint32_t variable);

/* Is no further pair of these locations wanted whose second access is `event` or later? (All
 * examples are there, with a `second` before `event`, or nobody asks about the pair.) */
bool mr_race_list_settled(const mr_race_list *list, uint32_t location, uint32_t other,
                          uint64_t event);

/* Offers a pair, in the order of its second event; what is not wanted is ignored. A pair whose
 * second event is that of the last example replaces it when its `first` is later. `next` is
 * ignored. False: no memory. */
bool mr_race_list_add(mr_race_list *list, const mr_race_example *pair);

/* Sorts the static races by their first example, and the examples with them; frees what only adding
 * needs. False: no memory. */
bool mr_race_list_finish(mr_race_list *list);

/* The index in `races` of a pair of locations, or UINT32_MAX. Also after finish. */
uint32_t mr_race_list_find(const mr_race_list *list, uint32_t location, uint32_t other);

#endif
