/*
 * walks: races of many pairs of places of a crowded trace, by walks (solver/walk.h).
 *
 * Where many places access one variable under a lock, and few without it, an access of the few races with most of what
 * the other threads do while its thread waits, and a section with most accesses of the few that come while it waits. So each
 * stretch with an access of a pair of places without a race has a walk, in trace order.
 */
#ifndef MR_PREDICT_WALKS_H
#define MR_PREDICT_WALKS_H

#include "worker.h"

/*
 * Looks for races of the groups for which `settled` is false, and sets it for those that have one; adds a verdict with
 * a race to `outcome` for each. The candidates have all site pairs of these groups. No budget counts. Does nothing in model
 * branch, without the step explore, and when some strengths only are wanted. MR_ERR_MEMORY.
 */
mr_status mr_walks_search(mr_worker *worker, const mr_problem *problem,
                          const mr_candidates *candidates, bool *settled, mr_outcome *outcome);

#endif
