/*
 * explain: why a circle of locks is no deadlock, for those who ask (explain_cycles). It looks only at
 * what can be said in a sentence: a guard lock, or an order by fork and join. What else makes a circle
 * impossible (what reads must see, semaphores, sections of other locks) the decision has proven.
 */
#ifndef MR_FINDINGS_EXPLAIN_H
#define MR_FINDINGS_EXPLAIN_H

#include "finder.h"

/* Notes the circle of a group that is impossible. MR_ERR_MEMORY. */
mr_status mr_explain_impossible(mr_finder *finder, uint32_t group, mr_error *error);

/* Notes the circles that have a guard lock, each once for its places. MR_ERR_MEMORY. */
mr_status mr_explain_guarded(mr_finder *finder, mr_error *error);

#endif
