/*
 * driver: the state of one prediction, shared by the files of src/predict.
 */
#ifndef MR_PREDICT_DRIVER_H
#define MR_PREDICT_DRIVER_H

#include "base/seconds.h"
#include "ledger.h"
#include "order/order.h"
#include "predict.h"
#include "solver/decide.h"
#include "windows/candidates.h"
#include "witness/checker.h"

/* Event pairs kept of a static race: those tried one by one in trace order before its sites are
 * decided as a whole; and, when HB or WCP choose the pairs, those decided one by one. */
enum { MR_DRIVER_PAIRS_TRIED = 256, MR_DRIVER_PAIRS_CHOSEN = 65536 };

typedef struct mr_driver {
    const mr_trace *trace;
    mr_result *result;
    mr_error *error;
    const mr_progress *progress; /* NULL: nobody wants to know */
    mr_model model;
    bool by_event; /* candidates.report: event */
    bool minimise;
    uint64_t max_unanswered; /* candidates.max_unanswered; 0: no limit */
    mr_decide_options decide;
    mr_candidate_options candidates;
    uint8_t *ignored_locations; /* owned; NULL: none */

    mr_arena arena; /* of the current window */
    mr_carried carried;
    mr_opaque_edges opaque; /* of the whole trace */
    mr_order *hb, *wcp;
    mr_session *session;
    mr_checker *checker;
    mr_ledger ledger;
} mr_driver;

/* confirm.c: builds, shortens and checks the witness of a decision (window events) and records the
 * race. When the checker refuses it, which is a bug, that is counted, `*accepted` is false and the
 * decision becomes unknown (rejected): it is never reported as a race. */
mr_status mr_driver_confirm(mr_driver *driver, const mr_window *window, mr_strength strength,
                            mr_decision *decision, bool *accepted);

/* The same for a witness in events of the trace, which is taken over; of the decision only the step
 * is read. */
mr_status mr_driver_confirm_witness(mr_driver *driver, mr_witness *witness, mr_strength strength,
                                    mr_decision *decision, bool *accepted);

/* confirm.c: remembers that a pair of trace events, first < second, has no verdict. The first
 * unknown pair of an entry stands for it. */
mr_status mr_driver_note_unknown(mr_driver *driver, mr_ledger_entry *entry, const mr_window *window,
                                 uint32_t first, uint32_t second, mr_strength strength,
                                 const mr_decision *decision);

/*
 * settle.c: decides a group of candidates (a static race, or a pair of events) until a race is
 * found. Static races in two phases: pairs that trace order confirms, one by one; then, when every
 * pair is wanted, all accesses of two sites at once, halved where that is too hard. The strategy
 * eager asks about every pair of events.
 */
mr_status mr_driver_settle(mr_driver *driver, const mr_problem *problem,
                           const mr_candidates *candidates, const mr_candidate_group *group);

/* settle.c: are all accesses of two sites asked about at once? */
bool mr_driver_asks_sites(const mr_driver *driver);

/* far.c: confirms the races of shb or syncp that no window could (candidates.far); what cannot be
 * confirmed is unknown. */
mr_status mr_driver_find_far(mr_driver *driver, mr_relation relation);

#endif
