/*
 * syncp_search: the sync-preserving races of each access with earlier ones (syncp.h), in the order
 * of the trace.
 *
 * For a new class of second accesses (syncp_access.h):
 *   1. Classes that are new since the thread's last search join its groups. Classes
 *      that the thread needs, and those under a common lock, are dead and do not.
 *   2. For each first site of which an example with the second site is still wanted, its group is
 *      searched for the latest access that races. That is the pair to report. Classes found dead
 *      on the way are removed.
 *   3. If no class raced, is the event racy? The class that raced last time is tried first, then
 *      the groups one by one until a class races. Of a variable of many threads the newest classes are tried before all this.
 * When only some pairs of locations are asked about (`wanted`), a class whose location has no open
 * pair is not searched for at all, and there is no step 3.
 *
 * So a closure is made at most once for each class and second thread that turns out dead, once for
 * each class of second accesses that is racy, and once for each example. A closure that contains
 * steps of the first thread beyond the class tells that the classes there are dead, too.
 */
#ifndef MR_ORDER_SYNCP_SEARCH_H
#define MR_ORDER_SYNCP_SEARCH_H

#include "order/race_list.h"
#include "order/wanted.h"
#include "syncp_access.h"

typedef struct mr_syncp_search {
    const mr_trace *trace;
    const mr_syncp_ideals *ideals;
    const mr_wanted *wanted; /* NULL: all pairs */
    mr_syncp_accesses accesses;
    mr_race_list *list;
    uint32_t *scratch; /* one entry a thread */
    mr_u32s fresh;     /* classes that step 1 puts into groups */
} mr_syncp_search;

/* All pointers on loan; `wanted` may be NULL. False: no memory, here and below; mr_syncp_search_free is fine after it. */
bool mr_syncp_search_init(mr_syncp_search *search, const mr_trace *trace,
                          const mr_syncp_ideals *ideals, const mr_wanted *wanted,
                          mr_race_list *list);
void mr_syncp_search_free(mr_syncp_search *search);

/* An access of a contended variable, or a free of its object, told to `search` (an mr_syncp_search)
 * in trace order while the ideals are those of before the event; reports to the list and notes the
 * access. */
bool mr_syncp_search_access(void *search, uint32_t event, uint32_t variable);

#endif
