/*
 * driver: the state of one prediction, shared by the files of src/predict.
 */
#ifndef MR_PREDICT_DRIVER_H
#define MR_PREDICT_DRIVER_H

#include "base/seconds.h"
#include "ledger.h"
#include "order/order.h"
#include "predict.h"
#include "reduce.h"
#include "solver/decide.h"
#include "windows/candidates.h"
#include "witness/checker.h"

/* Event pairs kept of a static race: those tried one by one in trace order before its sites are
 * decided as a whole; and, when HB or WCP choose the pairs, those decided one by one. */
enum { MR_DRIVER_PAIRS_TRIED = 256, MR_DRIVER_PAIRS_CHOSEN = 65536 };

/* Witnesses of a result that are kept as they are; further ones are packed. */
enum { MR_DRIVER_WITNESSES_OPEN = 256 };

typedef struct mr_driver {
    const mr_trace *trace;
    mr_result *result;
    mr_error *error;
    const mr_progress *progress; /* NULL: nobody wants to know */
    mr_model model;
    bool by_event; /* candidates.report: event */
    bool minimise;
    uint64_t max_unanswered;   /* candidates.max_unanswered; 0: no limit */
    uint64_t max_window_steps; /* candidates.max_window_steps; 0: no limit */
    uint64_t window_steps; /* spent on the window, to be reset with the next flag at its start */
    bool window_stopped;   /* the limit was reached */
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

    /* Of the driver that decides far races: its trace is the reduced one, it has no orders, and it
     * reports nothing but races. NULL: the windows of the trace. */
    const mr_reduction *reduction;
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
 * found, or a budget is used up: the static race has had its queries without an answer, or the
 * window all its steps. Then what is left of it is unknown, but for races in trace order, which are
 * looked for whatever was spent. Static races in two phases: pairs that trace order confirms, one
 * by one; then, when every pair is wanted, all accesses of two sites at once, halved where that is
 * too hard. The strategy eager asks about every pair of events.
 */
mr_status mr_driver_settle(mr_driver *driver, mr_problem *problem, const mr_candidates *candidates,
                           const mr_candidate_group *group);

/* settle.c: are all accesses of two sites asked about at once? */
bool mr_driver_asks_sites(const mr_driver *driver);
/* settle.c: asks one question of a static race, or a pair of events, whose entry it is. A race is
 * confirmed and recorded; a witness that the checker refuses makes the verdict unknown. The
 * decision's events are gone when it returns. */
mr_status mr_driver_ask(mr_driver *driver, const mr_problem *problem, mr_ledger_entry *entry,
                        mr_stops a, mr_stops b, mr_decision *decision);

/* far.c: confirms the races of shb or syncp that no window could (candidates.far); what cannot be
 * confirmed is unknown. */
mr_status mr_driver_find_far(mr_driver *driver, mr_relation relation);

/* What far races may cost (window.far_*). */
typedef struct mr_far_limits {
    uint32_t size;          /* of a far window, events of the reduced trace; 0: all of it */
    uint64_t per_race, all; /* work for a static race and in all; 0: no limit */
    uint32_t window_size;   /* of the windows that have been decided already */
    mr_strength weakest;    /* static races without a pair of that strength are not looked at */
} mr_far_limits;

/*
 * far_decide.c: decides the static races that are still open on the whole trace.
 *
 * The trace is reduced (reduce.h) and one window built over it, or several that overlap by half
 * when it has more than limits.size events. A static race without candidates there is none. Of the
 * others, the pairs of accesses that are closest to each other, and that which WCP (or HB) reports,
 * are decided one by one on windows around them. What is before a window happens as observed, so
 * cones are small and witnesses short. The windows grow by factors of four; pairs that lie side by
 * side share them. What is left is decided on the far window: all accesses at once, as in
 * settle.c. There "no race" is exact for the whole trace if it is one window, and then it settles
 * what other windows have left unknown. What has no answer there is unknown.
 *
 * Work is counted in events of the windows that are built, eight for each event of the cone of a
 * question, a sixteenth for each event of a window that is reordered, and a quarter of the limit on
 * saturation for a question without an answer: about 0.3 µs
 * each. The far window itself costs a static race nothing.
 */
mr_status mr_driver_decide_far(mr_driver *driver, const mr_far_limits *limits);

#endif
