/*
 * ask: questions about far races, the workers that ask them, and the effort that an answer costs.
 *
 * A worker of far races works on the reduced trace. It has an arena and a carried state of its own,
 * and borrows session and checker of the worker of the full trace with the same number. A witness
 * is turned into one of the full trace before the checker sees it (mr_reduction_expand).
 *
 * A phase (around.h, whole.h) hands its decide and merge callbacks to mr_dispatch_run. A decide
 * callback is
 *
 *   mr_far_unit_begin → (mr_far_answer_new → mr_far_try_reorder | mr_far_ask)* → mr_far_unit_end
 *
 * on the thread of the worker. A merge callback takes the lock of the budget and goes through the
 * answers of the outcome.
 *
 * Effort, in events of windows that are built:
 *
 *   mr_far_try_reorder   size of the window / 16
 *   mr_far_ask           8 · events of the cone, plus solver.saturate_steps / 4 when the verdict
 *                        is unknown (mr_far_effort)
 *   a look (bundles.h)   mr_decision.cone_events: what it took when it is a proof, else nothing
 *   spots.h              mr_decision.effort of each look and region, mr_far_effort of each question
 *                        about the cone
 *
 * Every function with an `error` may return MR_ERR_MEMORY; the functions of a worker fill
 * worker.error.
 */
#ifndef MR_FAR_ASK_H
#define MR_FAR_ASK_H

#include "budget.h"
#include "far.h"
#include "solver/reorder.h"

typedef struct mr_far_worker {
    mr_worker worker; /* of the reduced trace */
    /* The window around pairs that the worker built last, in its arena (around.c). */
    mr_problem problem;
    mr_foreign_reads foreign; /* of that window, without formulas only */
    uint64_t built;           /* the serial number of that window; 0: there is none */
} mr_far_worker;

/* What all phases of mr_far_decide share. Only `workers`, `windows` and `together` are its own. */
typedef struct mr_far_asker {
    const mr_far_context *context;
    mr_far_window *window;
    mr_far_budget *budget;
    mr_decide_options decide; /* of every question */
    mr_far_worker **workers;  /* one a job, made when it is needed; owned */
    uint64_t windows;         /* windows around pairs in all phases so far */
    mr_map together;          /* pairs of events of the far window (states.h); owned */
    bool has_together;        /* no others may be together; the next survey looks at these */
    bool looked;              /* all bundles of the far window have had a short look (bundles.h) */
} mr_far_asker;

/* To be freed also after an error. */
mr_status mr_far_asker_init(mr_far_asker *asker, const mr_far_context *context,
                            mr_far_window *window, mr_far_budget *budget, mr_error *error);
void mr_far_asker_free(mr_far_asker *asker);

/* What a question may take: as the settings say, or less, where the states of the far window are too many. */
void mr_far_use_settings(mr_far_asker *asker);
void mr_far_bound_questions(mr_far_asker *asker);

/* Is the run to end? */
bool mr_far_is_halted(const mr_far_asker *asker);

/* ---- one unit, by its worker ---- */

/* Starts a unit: finds the worker and makes the outcome. After an error there is no unit to end. */
mr_status mr_far_unit_begin(mr_far_asker *asker, unsigned number, uint64_t unit,
                            mr_far_worker **worker, mr_outcome **outcome, mr_error *error);
/* Ends the unit and returns `status`. The outcome of a unit that was halted is freed. */
mr_status mr_far_unit_end(mr_far_worker *worker, mr_outcome **outcome, mr_status status);
/* Makes the arena of the worker ready for questions about the far window. The window that the worker
 * has built in it goes. */
void mr_far_clear_arena(mr_far_worker *worker);
/* Is the run to end? Then the unit is given up. */
bool mr_far_unit_is_halted(const mr_far_asker *asker, mr_far_worker *worker);

/* A new verdict of the outcome, for an answer about a pair of events of the reduced trace. NULL: no
 * memory. */
mr_pair_verdict *mr_far_answer_new(const mr_far_asker *asker, const mr_place_pair *places,
                                   mr_close_pair pair, mr_outcome *outcome);

/* Looks for a witness in trace order, but for sections that are held back (solver/reorder.h). The
 * pair is one of window events. */
mr_status mr_far_try_reorder(mr_worker *worker, const mr_problem *problem,
                             const mr_foreign_reads *foreign, mr_close_pair pair,
                             mr_pair_verdict *verdict);
/* The effort of a question. */
uint64_t mr_far_effort(const mr_worker *worker, const mr_decision *decision);
/* Asks one question about all accesses of two lists of window events. */
mr_status mr_far_ask(mr_worker *worker, const mr_problem *problem, mr_stops one, mr_stops two,
                     mr_decision *decision, mr_pair_verdict *verdict);

#endif
