/*
 * far: the races that are farther apart than a window, after the windows have been merged.
 *
 *   mr_far_search → (windows merged) → mr_far_confirm → mr_far_decide
 *
 * All of it but the search is phases of units (dispatch.h). What is asked in a phase is planned from
 * what has been merged before it, which does not depend on who decided what; the outcome of a unit
 * depends on the plan alone; and the merge goes through the outcomes in the order of the plan and
 * pays for each answer as if it had been asked for only then. What the budget does not cover by
 * then is not counted, nor paid. So the result is that of one worker who asks question after
 * question. Who decides a unit looks at what has been merged by now: what is settled or too
 * expensive already will be so when its turn comes, and need not be asked.
 */
#ifndef MR_FAR_FAR_H
#define MR_FAR_FAR_H

#include "dispatch/dispatch.h"
#include "predict/merge.h"
#include "predict/worker.h"

/* What the far races are looked for with. Nothing is owned. */
typedef struct mr_far_context {
    const mr_predict_settings *settings;
    mr_merge *merge; /* what the windows have found; the races are added to it */
    mr_dispatch *dispatch;
    /* The worker of that number, 0 … dispatch->jobs - 1, on the full trace. Called by the thread that
     * is this worker. */
    mr_status (*worker_of)(void *context, unsigned number, mr_worker **worker, mr_error *error);
    void *context;
} mr_far_context;

/* As whose a far race counts: after all windows. */
#define MR_FAR_WINDOW UINT64_MAX

/* Fills outcome->pairs with one pair of each static race of SHB or SyncP (settings->far) on the
 * whole trace. Needs nothing of the windows. When the room has not enough for this, or for
 * mr_far_decide where it is to come, outcome->no_room is set and the pairs stay empty: then neither
 * is done, on any rank. MR_ERR_MEMORY. */
mr_status mr_far_search(const mr_predict_settings *settings, mr_outcome *outcome, mr_error *error);

/* far.c: confirms those pairs of the search that no window has proven. By the theory each has a
 * witness in trace order (order/syncp/syncp.h), on a window that starts as late as it can and ends
 * after the second access. A pair whose witness the checker refuses is unknown. */
mr_status mr_far_confirm(mr_far_context *far, const mr_event_pair *pairs, size_t count,
                         mr_error *error);

/*
 * far_decide.c: decides the static races that are still open on the whole trace.
 *
 * The trace is reduced (reduce.h) and one window built over it, or several that overlap by half
 * when it has more than limits.size events. A static race without candidates there is none. Of the
 * others, the pairs of accesses that are closest to each other, and that which WCP (or HB) reports,
 * are decided one by one on windows around them. What is before a window happens as observed, so
 * cones are small and witnesses short. The windows grow by factors of four; pairs that lie side by
 * side share them. What is left is decided on the far window: all accesses at once, as in
 * group.c. There "no race" is exact for the whole trace if it is one window, and then it settles
 * what other windows have left unknown. What has no answer there is unknown.
 *
 * Work is counted in events of the windows that are built, eight for each event of the cone of a
 * question, a sixteenth for each event of a window that is reordered, and a quarter of the limit on
 * saturation for a question without an answer: about 0.3 µs
 * each. The far window itself costs a static race nothing.
 */
mr_status mr_far_decide(mr_far_context *far, mr_error *error);

#endif
