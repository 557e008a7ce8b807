/*
 * pairs: which accesses at places of interest conflict with which, in groups by their two places,
 * each with a few pairs of events that stand for all.
 */
#ifndef MR_EXPLAIN_PAIRS_H
#define MR_EXPLAIN_PAIRS_H

#include "trace/trace.h"

enum { MR_PAIRS_LOOKED_AT = 64 };

/* Two events that conflict, first < second. */
typedef struct mr_close_events {
    uint32_t first, second;
} mr_close_events;

typedef struct mr_place_group {
    uint32_t location_1, location_2; /* location_1 <= location_2 */
    uint32_t variable;               /* of its first pair */
    bool more_variables;             /* other pairs are on other variables */
    /* Conflicting pairs such that no later access of the same kind, thread and place stands between
     * them: how many there are, and the first MR_PAIRS_LOOKED_AT of them. */
    uint64_t pair_count;
    mr_close_events pairs[MR_PAIRS_LOOKED_AT];
} mr_place_group;

typedef struct mr_place_groups {
    mr_place_group *items; /* in the order of their first pair */
    size_t count, capacity;
} mr_place_groups;

/*
 * Collects the groups of one place of `one` and one of `two` (an element a location each). `groups`
 * is zero-initialised, and freed by the caller also after an error. MR_ERR_MEMORY. O(events + for
 * each access, the kinds of accesses of its variable so far).
 */
mr_status mr_place_groups_find(const mr_trace *trace, const bool *one, const bool *two,
                               mr_place_groups *groups, mr_error *error);
void mr_place_groups_free(mr_place_groups *groups);

#endif
