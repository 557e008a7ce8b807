/*
 * walks: races of many pairs of places of a crowded trace, by walks (solver/walk.h).
 *
 * Many places access one variable under a lock, and few access it without. While a thread waits before an access without
 * the lock, most accesses that the other threads come to race with it. While a thread waits before a section, the
 * accesses without the lock that the others come to race with those of the section. So each stretch gets a walk that has
 * an access of a pair of places without a race, in trace order.
 *
 * Where few values are written again and again, the others often cannot go on from the one state that was observed, but can from
 * others. So walks with leads begin earlier, by ever other parts of the window, and only from accesses without a lock.
 * They find nearly all races of such a trace. They are for windows that overlap by half, and begin in the middle half of each.
 */
#ifndef MR_PREDICT_WALKS_H
#define MR_PREDICT_WALKS_H

#include "open_races.h"

/* Not without the step explore, and not when some strengths only are wanted. */
bool mr_walks_are_used(const mr_predict_settings *settings);

/*
 * Looks for races of the groups for which `settled` is false, and sets it for those that have one; adds a verdict with
 * a race to `outcome` for each that is not proven elsewhere (NULL: none is). The candidates have all site pairs of these groups. No budget counts. Does nothing in model
 * branch, and where walks are not used. MR_ERR_MEMORY.
 */
mr_status mr_walks_search(mr_worker *worker, const mr_problem *problem,
                          const mr_candidates *candidates, bool *settled, bool with_leads,
                          const mr_races_elsewhere *elsewhere, mr_outcome *outcome);

#endif
