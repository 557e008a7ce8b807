/*
 * access_groups: the accesses of a window to its shared variables, by site and lock set. A free of
 * an object is an access of each of its variables, too.
 *
 * A *site* is a variable, a thread, an operation and a place; accesses before and after the free of
 * the object are different sites (mr_window_end_of_life). Its accesses fall into lists with
 * equal lock sets. A *strand* is all accesses of a chain of threads (trace/chains.h) to a variable
 * with one lock set, whatever the site. candidates.c compares pairs of strands for common locks and
 * for order; where many pairs of accesses are left, it compares sites and their lists. Events of
 * sites, lists and strands are in trace order. Representatives are those of candidates.h.
 */
#ifndef MR_WINDOWS_ACCESS_GROUPS_H
#define MR_WINDOWS_ACCESS_GROUPS_H

#include "precedence.h"

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

/* Are the pairs of lists of two sites so few that each may have a question of its own? */
enum { MR_FEW_LIST_PAIRS = 64 };
static inline bool mr_access_lists_are_few(const mr_access_site *one, const mr_access_site *two)
{
    return (uint64_t)one->list_count * two->list_count <= MR_FEW_LIST_PAIRS;
}

/* Operations that conflict with the same ones: r, w, ar, aw with au, and free. */
enum { MR_ACCESS_CLASSES = 5 };

typedef struct mr_access_strand {
    uint32_t variable, chain, lockset;
    const uint32_t *events;
    const uint32_t *sites; /* one an event: its number in mr_access_groups.sites */
    /* One an event and one more: how many of each class are before it in the strand. */
    const uint32_t (*before)[MR_ACCESS_CLASSES];
    uint32_t count;
    uint32_t first_site, end_site; /* a range that has all of its sites */
} mr_access_strand;

typedef struct mr_access_groups {
    mr_access_site *sites; /* by variable, chain, thread, operation, location */
    mr_access_strand *strands;
    uint32_t *strand_first; /* strands of variable v: [strand_first[v], strand_first[v + 1]) */
} mr_access_groups;

/* The class of an operation: a number below MR_ACCESS_CLASSES. */
uint32_t mr_access_class(uint8_t op);
/* How many pairs conflict, of so many accesses of each class and so many others. */
uint64_t mr_access_class_conflicts(const uint64_t one[MR_ACCESS_CLASSES],
                                   const uint64_t two[MR_ACCESS_CLASSES]);
/* How many pairs conflict, of accesses number from_one … to_one - 1 of one strand and from_two …
 * to_two - 1 of another thread's. O(1). */
uint64_t mr_access_conflicts(const mr_access_strand *one, uint32_t from_one, uint32_t to_one,
                             const mr_access_strand *two, uint32_t from_two, uint32_t to_two);

/* Which accesses are in the lists. */
typedef enum mr_access_choice {
    MR_ACCESS_ALL,
    MR_ACCESS_REPRESENTATIVES,
    MR_ACCESS_ORDERED_REPRESENTATIVES, /* that are in no more order, by HB and WCP, than those they
                                          stand for */
} mr_access_choice;

/* In memory of `arena`; `ignored_locations` may be NULL. With a precedence variables have no accesses of which it,
 * or a common lock, keeps each two apart that conflict; NULL: all have theirs. False: no memory. O(window · log)
 * expected. */
bool mr_access_groups_build(mr_access_groups *groups, const mr_window *window,
                            mr_access_choice choice, const bool *ignored_locations,
                            const mr_precedence *precedence, mr_arena *arena);

#endif
