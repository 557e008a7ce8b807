/*
 * find: uses after free, deadlocks and wrong pointers (docs/semantics.md 7): candidates → questions →
 * decision → witness → checker → result.
 *
 * The calling thread collects the questions of the whole trace (goals/candidates.h). A unit is a group:
 * the questions about one static finding. The outcome of a unit depends on the trace and the settings
 * alone. The units are shared out as one phase (dispatch.h) and merged in the order of the groups.
 *
 * With far findings (candidates.far is not `none`) the scope is the whole trace: it is reduced
 * (far/reduce.h, with all names that questions are about), and one window is built over it. A question
 * is decided by
 *
 *   1. filter and cone on the whole window: impossible
 *   2. steps without Z3 on small windows around its events: found; steps without formulas on the whole
 *      window: found or impossible
 *   3. all steps, on windows of growing size: found; then on the whole window: found, impossible,
 *      unknown
 *
 * Else the scope is the windows of the plan: a question is impossible when it is in each of them.
 *
 * Effort is counted as that of far races (far/ask.h) and bounded by the same options:
 * window.far_race_work for a group, window.far_work for all of them. An outcome that the second does
 * not cover is merged as unknown, with the reason budget.
 */
#ifndef MR_FINDINGS_FIND_H
#define MR_FINDINGS_FIND_H

#include "far/far.h"
#include "goals/questions.h"

/* What is looked for. */
typedef struct mr_findings_wanted {
    bool memory, deadlocks, pointers;
    bool explain_cycles; /* with deadlocks: circles of locks that are none are told */
    const mr_sees *sees; /* NULL: nothing is asked */
} mr_findings_wanted;

/* Adds the findings to the result, sorted. `*complete`: all units were merged. MR_ERR_MEMORY, and the
 * errors of mr_dispatch_run. */
mr_status mr_findings_find(const mr_far_context *context, const mr_findings_wanted *wanted,
                           bool *complete, mr_error *error);

#endif
