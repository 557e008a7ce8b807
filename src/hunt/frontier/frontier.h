/*
 * frontier: where a behaviour can go on in another way (tasks.h), and how it gets there.
 *
 * For each read, the writes of its variable that are near it in the trace, the initial value, and what
 * its own thread wrote before, as far as they give it another value; for each acquire, the acquire of
 * another thread before it; what the engine proves of the trace: races and other findings; and the
 * candidates of which it proves nothing (near.h).
 */
#ifndef MR_HUNT_FRONTIER_H
#define MR_HUNT_FRONTIER_H

#include "config/config.h"
#include "hunt/program/behaviour.h"
#include "near.h"
#include "predict/result.h"
#include "tasks.h"
#include "way.h"

/* Counts the pairs of places and the histories of a run. False: no memory. O(events). */
bool mr_frontier_note(mr_tasks *tasks, const mr_trace *trace, const mr_behaviour *behaviour);

/* Adds the tasks of a behaviour. `result`: what the engine has found in its trace. False: no memory. */
bool mr_frontier_add(mr_tasks *tasks, uint32_t number, uint32_t depth, const mr_trace *trace,
                     const mr_behaviour *behaviour, const mr_result *result,
                     const mr_near_pairs *candidates);

/* Of a pair of places, whatever their order. */
uint64_t mr_frontier_pair(const mr_trace *trace, const mr_behaviour *behaviour, uint32_t one,
                          uint32_t two);

/*
 * Finds the events that come before the stops of a task, and sets its stops. `*found` is false when
 * there is no such reordering, as far as is known: by way.h and then, for SEES, by the engine with this
 * configuration. MR_ERR_MEMORY and the errors of mr_predict.
 */
mr_status mr_frontier_decide(mr_task *task, const mr_trace *trace, const mr_way_index *index,
                             const mr_config *config, bool *found, mr_error *error);

#endif
