/*
 * saved_check: could an outcome that comes from a file have been found in this trace? The checker
 * has to accept its races again, and what it names must be conflicting accesses of the places that
 * it says. Knows nothing of units; fits.h does.
 */
#ifndef MR_PREDICT_SAVED_CHECK_H
#define MR_PREDICT_SAVED_CHECK_H

#include "outcome.h"
#include "witness/checker.h"

typedef struct mr_saved_check {
    const mr_trace *trace;
    mr_checker *checker; /* owned by who has set it */
    mr_model model;
    bool by_event; /* candidates.report: event */
} mr_saved_check;

/* MR_ERR_INTERNAL: it could not, and the text of `error` is why; MR_ERR_MEMORY. */
mr_status mr_saved_check_outcome(const mr_saved_check *check, const mr_outcome *outcome,
                                 mr_error *error);

#endif
