/*
 * access_groups: the accesses of a window to its shared variables, by site and lock set.
 *
 * A site is a variable, a thread, an operation and a location. Its accesses fall into lists with
 * equal lock sets. Pairs of sites are compared for conflicts, pairs of lists for common locks;
 * single accesses only where neither settles it. Events of sites and lists are in program order.
 * Representatives as in candidates.h.
 */
#ifndef MR_WINDOWS_ACCESS_GROUPS_H
#define MR_WINDOWS_ACCESS_GROUPS_H

#include "window.h"

/* The accesses of a site with one lock set. */
typedef struct mr_access_list {
    uint32_t lockset;
    const uint32_t *events;
    uint32_t count;
} mr_access_list;

typedef struct mr_access_site {
    uint32_t variable, thread, location;
    uint8_t op;
    const uint32_t *events; /* of all its lists */
    uint32_t count;
    const mr_access_list *lists;
    uint32_t list_count;
} mr_access_site;

typedef struct mr_access_groups {
    mr_access_site *sites;    /* those of a variable stand together */
    uint32_t *variable_first; /* sites of variable v: [variable_first[v], variable_first[v + 1]) */
} mr_access_groups;

/* Which accesses are in the lists. */
typedef enum mr_access_choice {
    MR_ACCESS_ALL,
    MR_ACCESS_REPRESENTATIVES,
    MR_ACCESS_ORDERED_REPRESENTATIVES, /* that are in no more order, by HB and WCP, than those they
                                          stand for */
} mr_access_choice;

/* In memory of `arena`; `ignored_locations` may be NULL. False: no memory. O(window · log)
 * expected. */
bool mr_access_groups_build(mr_access_groups *groups, const mr_window *window,
                            mr_access_choice choice, const uint8_t *ignored_locations,
                            mr_arena *arena);

#endif
