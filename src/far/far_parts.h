/* far_parts: static races that no far window has seen as a whole. */
#ifndef MR_FAR_PARTS_H
#define MR_FAR_PARTS_H

#include "predict/ledger.h"
#include "windows/plan.h"

/*
 * Counts the pairs of locations with conflicting accesses in the trace that are no races in the
 * ledger and whose accesses of some variable do not all lie in one window of the plan: that there
 * is no race was shown of parts of them only, if at all. Forks, joins and locks are not looked at.
 * False: no memory. O(events), and for each variable the square of its locations.
 */
bool mr_far_parts_count(const mr_trace *trace, const mr_window_plan *plan, const mr_ledger *ledger,
                        uint64_t *count);

#endif
