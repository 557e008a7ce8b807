/*
 * far: races whose accesses are farther apart than a window.
 *
 *   mr_far_search → (windows merged) → mr_far_merge_search → mr_far_confirm → mr_far_decide
 *
 * The search is one unit of the phase of the windows. The last two run phases of their own
 * (dispatch.h), after the windows. A phase is planned from what was merged before it, and the
 * outcome of a unit depends on the plan alone. The outcomes are merged in the order of the plan.
 * Only then is each answer paid for, and an answer that the budget does not cover is dropped. So
 * the result is that of one worker that asks one question after the other, whoever has decided
 * which unit.
 *
 * A worker looks at what is merged so far, and does not ask about a pair of places that is settled
 * or too expensive by then (budget.h).
 */
#ifndef MR_FAR_FAR_H
#define MR_FAR_FAR_H

#include "ahead.h"
#include "dispatch/dispatch.h"
#include "predict/merge.h"
#include "predict/worker.h"

/* The parts of a prediction that far races need. Nothing is owned. */
typedef struct mr_far_context {
    const mr_predict_settings *settings;
    mr_merge *merge; /* has the outcomes of the windows; far races are added to it */
    mr_dispatch *dispatch;
    /* The worker of that number, 0 … dispatch->jobs - 1, on the full trace. Called by the thread
     * that is this worker. */
    mr_status (*worker_of)(void *context, unsigned number, mr_worker **worker, mr_error *error);
    /* Asks what the windows have left (predict/deferred.h), in a wide trace; NULL: that comes after mr_far_decide. Called at most once, by
     * the calling thread, when the states of each two threads have been searched. */
    mr_status (*ask_left)(void *context, mr_error *error);
    /* NULL: nothing was searched ahead. It is taken before ask_left, which ends it. */
    mr_far_ahead *ahead;
    void *context;
} mr_far_context;

/* Far races are counted for a window of this number, which comes after all windows. */
#define MR_FAR_WINDOW UINT64_MAX

/*
 * order_races.c: looks for one pair of each static race of SHB or SyncP (settings->far) on the whole
 * trace. Needs no outcome of the windows. Each pair has a witness in trace order (order/syncp/syncp.h),
 * on a window that ends after the second access and starts as late as possible. `open` (NULL: all): the
 * pairs of places that it is about; it may find others, too. The pairs with short
 * windows are confirmed at once: `outcome` gets their verdicts, so that a run that is ended within its windows has
 * these races. `outcome->pairs` gets the other pairs. A pair whose witness the checker rejects is
 * unknown. When the run is halted, some pairs may be missing.
 *
 * The room (memory.limit_mb) may lack the memory for the search, or for mr_far_decide after it.
 * Then the search sets outcome->no_room and leaves the rest empty, and no rank looks for far races.
 * MR_ERR_MEMORY.
 */
mr_status mr_far_search(mr_worker *worker, const mr_wanted *open, mr_outcome *outcome,
                        mr_error *error);

/* order_races.c: adds the verdicts of the search, but those of static races that a window has proven.
 * MR_ERR_MEMORY. */
mr_status mr_far_merge_search(mr_merge *merge, mr_outcome *outcome, mr_error *error);

/*
 * order_races.c: confirms those of the other pairs of the search whose static race no window has proven.
 * MR_ERR_MEMORY, and the errors of mr_dispatch_run.
 */
mr_status mr_far_confirm(mr_far_context *far, const mr_event_pair *pairs, size_t count,
                         mr_error *error);

/*
 * decide.c: decides the pairs of places without a race so far, on the whole trace.
 *
 * The trace is reduced (reduce.h), and one far window is built over the reduced trace. When it has
 * more than limits.size events, there are several far windows, which overlap by half.
 *
 *   1. A pair of places without candidates in the far window is no race.
 *   2. The close pairs of the other pairs of places (close_pairs.h), and the pair that WCP or HB
 *      reports, are decided one by one: on windows around them, without formulas first (around.h).
 *      Between the two, elimination looks for a proof about all accesses of two places (whole.h).
 *      Before both, all races of the far window are looked for at once (states.h).
 *   3. The pairs of places that are left are decided in the far window, all accesses of two places
 *      by one question (whole.h). A far window over the whole trace makes "no race" exact, and
 *      settles unknowns of smaller windows. A question whose verdict is unknown leaves an unknown.
 *
 * Models: value comes before branch, else only that of the settings is decided. Effort: budget.h, ask.h;
 * the far window itself is charged to no pair of places. Memory: estimate.h. MR_ERR_MEMORY, and the
 * errors of mr_dispatch_run.
 */
mr_status mr_far_decide(mr_far_context *far, mr_error *error);

/* decide.c: how many events a far window has, at most `most` (0: all), but as many as a window; 0: all. With many chains of threads
 * it is smaller, as its clocks have an entry for each. */
uint64_t mr_far_size(uint64_t most, uint64_t window_size, uint64_t chains);

/* Does one far window see the whole trace, and all pairs of places? Then what mr_far_decide leaves of merge->deferred are the
 * pairs that it has neither proven nor refuted. */
bool mr_far_sees_all(const mr_predict_settings *settings);

#endif
