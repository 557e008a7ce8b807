/*
 * far: the races that are farther apart than a window, after the windows have been merged.
 *
 *   mr_far_search → (windows merged) → mr_far_confirm → mr_far_decide
 *
 * The search is one unit of the phase of the windows; the other two run phases of their own
 * (dispatch.h). The questions of a phase are planned from what was merged before it, which does not
 * depend on who decided what, and the outcome of a unit depends on the plan alone. The merge goes
 * through the outcomes in the order of the plan, and pays for each answer only then, as if the
 * question had been asked only then. An answer that the budget does not cover is not paid, and does
 * not count. So the result is that of one worker that asks one question after the other.
 *
 * A worker looks at what has been merged so far: a pair of places that is settled or too expensive
 * by now will be so when the merge comes to it, so the worker need not ask.
 */
#ifndef MR_FAR_FAR_H
#define MR_FAR_FAR_H

#include "dispatch/dispatch.h"
#include "predict/merge.h"
#include "predict/worker.h"

/* What far races need of the prediction. Nothing is owned. */
typedef struct mr_far_context {
    const mr_predict_settings *settings;
    mr_merge *merge; /* has the outcomes of the windows; far races are added to it */
    mr_dispatch *dispatch;
    /* The worker of that number, 0 … dispatch->jobs - 1, on the full trace. Called by the thread
     * that is this worker. */
    mr_status (*worker_of)(void *context, unsigned number, mr_worker **worker, mr_error *error);
    void *context;
} mr_far_context;

/* Far races count as those of a window after all windows. */
#define MR_FAR_WINDOW UINT64_MAX

/* Fills outcome->pairs with one pair of each static race of SHB or SyncP (settings->far) on the
 * whole trace. Needs nothing of the windows. When the room has not enough memory for the search, or
 * for mr_far_decide after it, the search sets outcome->no_room and leaves the pairs empty; then no
 * rank looks for far races. MR_ERR_MEMORY. */
mr_status mr_far_search(const mr_predict_settings *settings, mr_outcome *outcome, mr_error *error);

/* far.c: confirms those pairs of the search that no window has proven. By the theory each has a
 * witness in trace order (order/syncp/syncp.h), on a window that starts as late as it can and ends
 * after the second access. A pair whose witness the checker refuses is unknown. */
mr_status mr_far_confirm(mr_far_context *far, const mr_event_pair *pairs, size_t count,
                         mr_error *error);

/*
 * far_decide.c: decides the pairs of places that are still open, on the whole trace.
 *
 * The trace is reduced (reduce.h), and one far window is built over the reduced trace; several that
 * overlap by half when it has more than limits.size events.
 *
 *   1. A pair of places without candidates in the far window is no race.
 *   2. Of the others, the pairs of accesses that are closest to each other, and the pair that WCP
 *      (or HB) reports, are decided one by one on windows around them. Everything before such a
 *      window happens as observed, so cones are small and witnesses short. The windows grow by
 *      factors of four; pairs that lie side by side share a window.
 *   3. The pairs of places that are left are decided on the far window, all accesses by one
 *      question, as in predict/group.c. A far window over the whole trace makes "no race" exact,
 *      and settles unknowns of smaller windows. A question without an answer leaves an unknown.
 *
 * Effort is counted in events of the windows that are built; eight for each event of the cone of a
 * question, a sixteenth for each event of a window that is reordered, and a quarter of the limit on
 * saturation for a question without an answer: about 0.3 µs each. The far window itself costs a
 * pair of places nothing.
 */
mr_status mr_far_decide(mr_far_context *far, mr_error *error);

#endif
