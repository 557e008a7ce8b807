/*
 * crowded: races of a crowded trace whose accesses are close together, found before the windows.
 *
 * A trace is *crowded* when one variable is accessed at so many places that there is a conflicting
 * pair of places for some tens of events. Most of these pairs race within some hundred events, but
 * a window has a question for each of them: its witness has thousands of events, which are built, shortened and
 * checked, and a pair that does not race in the first window may have a hard question there
 * before a later one settles it at once. So the trace is gone through before, several times, in
 * *small windows* of 128 to 8,192 events that overlap by half: in model rf first, as a race there is one in
 * every model. What is found is passed over by all windows.
 *
 * The witness of a race begins at its small window: the events before it happen as observed.
 *
 * A *round* is one way through the trace; a unit of it is a piece of the trace. A pair of places has its
 * attempts in trace order and, in some rounds, walks (walks.h) and questions about many pairs of places (fans.h) with a part of the
 * budgets. No budget counts. The outcome of a unit depends on trace, settings and the races of the rounds before,
 * with one exception: in a round without questions, a pair of places that a lower unit of the round is known to prove may be passed
 * over.
 */
#ifndef MR_PREDICT_CROWDED_H
#define MR_PREDICT_CROWDED_H

#include "worker.h"

/* Is it worth it? O(events). False also for want of memory. */
bool mr_crowded_is(const mr_predict_settings *settings);

/* Can mr_crowded_is be true when no contended variable is accessed at more than `places` places? `crowded` is
 * candidates.crowded. */
bool mr_crowded_may_be(uint64_t places, uint64_t event_count, uint64_t crowded);

/*
 * Lowers settings->max_window_steps and, in model value, far_limits.all, unless they are 0, to a number for each event: a crowded trace
 * may have thousands of pairs of places that no step decides soon, each with budgets of its own.
 */
void mr_crowded_limit(mr_predict_settings *settings);

/* The number of rounds, 0 … rounds - 1, and of the units of each. */
uint32_t mr_crowded_rounds(void);
uint64_t mr_crowded_units(const mr_trace *trace, uint32_t round);

/* Is a round to be done, when those before have found so many races? A round that was not done has found none. */
bool mr_crowded_needs(const mr_predict_settings *settings, uint32_t round, const uint64_t *races);

/* Is it a round of walks with leads? */
bool mr_crowded_is_walk(uint32_t round);

/* Which pairs of places are known to race. */
typedef struct mr_crowded_known {
    mr_known_races
        *earlier; /* with the round that has proven it; of this round, those that are merged */
    mr_known_races *round; /* with the unit of this round; the search adds to it */
} mr_crowded_known;

/* Adds the races of unit outcome->unit to the outcome. When the run is halted, worker->halted is set. MR_ERR_MEMORY. */
mr_status mr_crowded_search(mr_worker *worker, uint32_t round, const mr_crowded_known *known,
                            mr_outcome *outcome, mr_error *error);

#endif
