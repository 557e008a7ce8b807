/*
 * syncp_search: the sync-preserving races of each access with earlier ones (syncp.h), in the order
 * of the trace.
 *
 * For a new class of second accesses (syncp_access.h):
 *   1. The classes that came since the thread looked last join the groups of their rivals, but for
 *      those that the thread needs and those under a common lock: they are dead.
 *   2. The groups of first sites of which an example with the second site is still wanted are
 *      searched from the back to the first class that races: that is the pair to report. What is
 *      found dead on the way leaves.
 *   3. If there was none, is the event racy? First the class that raced last is asked, then one
 *      rival after the other until one has an answer.
 * When no pair is wanted, step 1 is left to step 3.
 *
 * So a closure is made at most once for each class and second thread that turns out dead, once for
 * each class of second accesses that is racy, and once for each example. A closure that contains
 * steps of the first thread beyond the class tells that the classes there are dead, too.
 */
#ifndef MR_ORDER_SYNCP_SEARCH_H
#define MR_ORDER_SYNCP_SEARCH_H

#include "order/race_list.h"
#include "syncp_access.h"

typedef struct mr_syncp_search {
    const mr_trace *trace;
    const mr_syncp_ideals *ideals;
    mr_syncp_accesses accesses;
    mr_race_list *list;
    uint32_t *scratch; /* one entry a thread */
} mr_syncp_search;

/* All pointers on loan. False: no memory, here and below; mr_syncp_search_free is fine after it. */
bool mr_syncp_search_init(mr_syncp_search *search, const mr_trace *trace,
                          const mr_syncp_ideals *ideals, mr_race_list *list);
void mr_syncp_search_free(mr_syncp_search *search);

/* An access of a contended variable, told to `search` (an mr_syncp_search) in trace order while the
 * ideals are those of before the event; reports to the list and notes the access. */
bool mr_syncp_search_access(void *search, uint32_t event);

#endif
