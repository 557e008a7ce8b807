/*
 * states: the far window's races at once, by the states that its reorderings lead to (predict/survey.h).
 *
 * Where locks are nested deeply, a trace of some ten thousand events leads to less than some million states, while each
 * question about all accesses of two places has a cone of nearly all events. The search gives up soon where that is
 * not so; then the states of each two threads (solver/together.h) are looked at for proofs. It is one unit. What it
 * spends is charged to no pair of places.
 */
#ifndef MR_FAR_STATES_H
#define MR_FAR_STATES_H

#include "ask.h"

/* In the model of the settings: races, and proofs for all other pairs of places when no state is left. MR_ERR_MEMORY,
 * and the errors of mr_dispatch_run. */
mr_status mr_far_survey(mr_far_asker *asker, mr_error *error);

#endif
