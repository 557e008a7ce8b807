/*
 * access_groups: the accesses of a window to its shared variables, by variable, thread, operation and lock set.
 *
 * Pairs of lists, not of accesses, are compared for conflicts and common locks; inside a list, accesses are in program
 * order. Representatives as in candidates.h.
 */
#ifndef MR_WINDOWS_ACCESS_GROUPS_H
#define MR_WINDOWS_ACCESS_GROUPS_H

#include "window.h"

typedef struct mr_access_list {
    uint32_t variable, thread, lockset;
    bool writes;
    uint32_t *events;
    uint32_t count;
} mr_access_list;

typedef struct mr_access_groups {
    mr_access_list *lists;    /* those of a variable stand together */
    uint32_t *variable_first; /* lists of variable v: [variable_first[v], variable_first[v + 1]) */
} mr_access_groups;

/* Which accesses are in the lists. */
typedef enum mr_access_choice {
    MR_ACCESS_ALL,
    MR_ACCESS_REPRESENTATIVES,
    MR_ACCESS_ORDERED_REPRESENTATIVES, /* that are in no more order, by HB and WCP, than those they stand for */
} mr_access_choice;

/* In memory of `arena`; `ignored_locations` may be NULL. False: no memory. O(window · log) expected. */
bool mr_access_groups_build(mr_access_groups *groups, const mr_window *window,
                            mr_access_choice choice, const uint8_t *ignored_locations,
                            mr_arena *arena);

#endif
