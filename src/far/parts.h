/* parts: counts the pairs of places that no far window has seen as a whole. */
#ifndef MR_FAR_PARTS_H
#define MR_FAR_PARTS_H

#include "predict/ledger.h"
#include "windows/plan.h"

/*
 * Counts the pairs of places that
 *
 *   - have conflicting accesses of a variable in the trace,
 *   - have no race in the ledger, and
 *   - have accesses of that variable that do not all lie in one window of the plan.
 *
 * For such a pair of places, "no race" is proven of parts of the accesses only, if at all. Forks,
 * joins and locks are not looked at. The plan must have windows of a size. O(events), and for each
 * variable the square of its places; memory O(pairs of a variable and a place). False: no memory.
 */
bool mr_far_parts_count(const mr_trace *trace, const mr_window_plan *plan, const mr_ledger *ledger,
                        uint64_t *count);

#endif
