/*
 * saved_check: could an outcome that comes from a file have been found in this trace? The checker
 * has to accept its races again, and what it names must be conflicting accesses of the places that
 * it says. Knows nothing of units; fits.h does. Zero-initialise, then set what is not owned.
 */
#ifndef MR_CHECKPOINT_SAVED_CHECK_H
#define MR_CHECKPOINT_SAVED_CHECK_H

#include "predict/outcome.h"
#include "witness/checker.h"

typedef struct mr_saved_check {
    const mr_trace *trace;
    mr_opaque calls;
    mr_model model;
    bool by_event;       /* candidates.report: event */
    mr_checker *checker; /* NULL: there was no race to check so far; owned */
} mr_saved_check;

void mr_saved_check_free(mr_saved_check *check);

/* MR_ERR_INTERNAL: it could not, and the text of `error` is why; MR_ERR_MEMORY. */
mr_status mr_saved_check_outcome(mr_saved_check *check, const mr_outcome *outcome, mr_error *error);

#endif
