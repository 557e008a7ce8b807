/*
 * states: the far window's races at once, by the states that its reorderings lead to (predict/survey.h).
 *
 * Where locks are nested deeply, a trace of some ten thousand events leads to less than some million states, while each
 * question about all accesses of two places has a cone of nearly all events. The search gives up soon where that is
 * not so; then the states of each two threads (solver/together.h) are looked at. What they spend is charged to no pair of
 * places.
 */
#ifndef MR_FAR_STATES_H
#define MR_FAR_STATES_H

#include "ask.h"
#include "solver/together.h"

/* Do the states of a far window of so many events say anything, and are there not too many? In the model of the settings. */
bool mr_far_survey_fits(const mr_predict_settings *settings, uint32_t events);
bool mr_far_survey_is_used(const mr_far_asker *asker);

/* In the model of the settings: races, and proofs for all other pairs of places when no state is left. It is one
 * unit. MR_ERR_MEMORY, and the errors of mr_dispatch_run. */
mr_status mr_far_survey(mr_far_asker *asker, mr_error *error);

/* mr_together_search on a far window whose precedence was raised, with what far questions may spend on it. */
mr_explored mr_far_search_together(const mr_problem *problem, const mr_decide_options *decide,
                                   uint64_t memory_bytes, uint64_t *spent, mr_arena *arena,
                                   mr_together **together);

/* What the states of each two threads led to. */
typedef enum mr_far_met {
    MR_FAR_MET_LITTLE,  /* proofs at most, or there are too many threads for them */
    MR_FAR_MET_RAISED,  /* the precedence of the far window is raised */
    MR_FAR_MET_GAVE_UP, /* they were too many */
} mr_far_met;

/* Likewise: pairs of places whose accesses are never together have no race. Where others are left, raises the precedence of the far
 * window by what was found, and lists them again. By the calling thread, of each rank, as
 * the far window is changed. */
mr_status mr_far_meet(mr_far_asker *asker, mr_far_met *met, mr_error *error);

/* After mr_far_meet: as mr_far_survey, for those pairs of events alone that mr_far_meet has left.
 * Where they are many it does nothing. */
mr_status mr_far_survey_together(mr_far_asker *asker, mr_error *error);
/* Before the far window is another one. */
void mr_far_forget_together(mr_far_asker *asker);

#endif
