/*
 * driver: the state of one prediction, shared by the files of src/predict.
 */
#ifndef MR_PREDICT_DRIVER_H
#define MR_PREDICT_DRIVER_H

#include "ledger.h"
#include "order/order.h"
#include "predict.h"
#include "solver/decide.h"
#include "windows/candidates.h"
#include "witness/checker.h"

typedef struct mr_driver {
    const mr_trace *trace;
    mr_result *result;
    mr_error *error;
    mr_model model;
    bool by_event; /* candidates.report: event */
    bool minimise;
    mr_decide_options decide;
    mr_candidate_options candidates;
    uint8_t *ignored_locations; /* owned; NULL: none */

    mr_arena arena; /* of the current window */
    mr_carried carried;
    mr_order *hb, *wcp;
    mr_session *session;
    mr_checker *checker;
    mr_ledger ledger;
} mr_driver;

/* confirm.c: builds, shortens and checks the witness of a decision (window events) and records the race. `*accepted`
 * is false when the checker refused it: that is a bug, counted and reported as unknown, never as a race. */
mr_status mr_driver_confirm(mr_driver *driver, const mr_window *window,
                            const mr_candidate *candidate, const mr_decision *decision,
                            bool *accepted);

/* far.c: confirms the SHB races that no window could (candidates.far). */
mr_status mr_driver_find_far(mr_driver *driver);

/* Monotonic clock. */
double mr_seconds(void);

#endif
