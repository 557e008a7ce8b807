/*
 * guide_search: questions about a model (hunt/model/model.h), those first that need the fewest preemptions.
 *
 * A search through the states of the model as in model_search.h, but in breadth: first all states that
 * are reached without a preemption, then those with one, and so on. A preemption is that another thread
 * goes on although the one before could. A thread goes on where its next operation commutes with all that others may still do; else each
 * thread is tried. Each state is visited once,
 * and the way to it is the first that was found. So a limit of states cuts off what needs many preemptions.
 *
 * A question is as in model_search.h: what a thread does next when it sees what is there. Its key is the same in a later
 * model as long as the folds of both (fold.h) tell the node from others by the same words.
 */
#ifndef MR_HUNT_GUIDE_SEARCH_H
#define MR_HUNT_GUIDE_SEARCH_H

#include "hunt/model/model_search.h"

/* Fills in the steps, the questions that were not tried twice (by key, in `tried`), the number of states, and why it stopped. MR_ERR_MEMORY. */
mr_status mr_guide_seek(mr_seek *search, const mr_graph *graph, const mr_map *tried,
                        const mr_seek_limits *limits, mr_error *error);

#endif
