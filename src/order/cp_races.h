/*
 * cp_races: the racy events and static races among accesses that come with their clocks.
 *
 * For each contended variable, thread, kind of access and location the latest access is kept, in
 * lists by thread and kind, the latest first. It has the greatest local time of its like, so when
 * it is ordered before an access, so are the earlier ones; and it is the latest possible `first` of
 * a pair. A list is left at the first entry that is ordered before the new access.
 *
 * Cost: O(threads of the variable + races with other locations) an access; O(1) for an access like
 * the one of the same thread before it that did not race.
 */
#ifndef MR_ORDER_CP_RACES_H
#define MR_ORDER_CP_RACES_H

#include "clock.h"
#include "race_list.h"
#include "sharing.h"

typedef struct mr_cp_access {
    uint32_t event, local, location;
    uint32_t older; /* of the same variable, thread and kind; MR_NONE: none */
} mr_cp_access;

/* A thread that accesses a variable. */
typedef struct mr_cp_accessor {
    uint32_t thread;
    uint32_t next;    /* of the variable; MR_NONE: last */
    uint32_t last[2]; /* by kind: its latest access, MR_NONE: none */
} mr_cp_accessor;

typedef struct mr_cp_variable {
    uint32_t first_accessor; /* MR_NONE: none */
    uint32_t quiet_accessor; /* made the last access, which did not race; MR_NONE: it did */
    bool quiet_write;        /* it was a write */
} mr_cp_variable;

typedef struct mr_cp_races {
    const mr_trace *trace; /* borrowed, as is `list` */
    mr_race_list *list;
    mr_cp_variable *variables;
    mr_cp_access *accesses;
    size_t access_count, access_capacity;
    mr_cp_accessor *accessors;
    size_t accessor_count, accessor_capacity;
} mr_cp_races;

/* False: no memory (mr_cp_races_free is still fine), here and below. */
bool mr_cp_races_init(mr_cp_races *races, const mr_trace *trace, mr_race_list *list);
void mr_cp_races_free(mr_cp_races *races);

/* Adds the races of an access of a contended variable with earlier ones to the list. */
bool mr_cp_races_add(mr_cp_races *races, uint32_t event, const mr_clock *clock, uint32_t local);

#endif
