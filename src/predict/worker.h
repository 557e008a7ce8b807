/*
 * worker: what it takes to decide windows, one after the other. Every thread has a worker of its
 * own; the settings, the trace and the known races are shared.
 */
#ifndef MR_PREDICT_WORKER_H
#define MR_PREDICT_WORKER_H

#include "known_races.h"
#include "order/order.h"
#include "outcome.h"
#include "settings.h"
#include "windows/window.h"
#include "witness/checker.h"

typedef struct mr_worker {
    const mr_predict_settings *settings;
    const mr_trace *trace; /* that of the settings; for far races, the reduced one */
    mr_known_races *known; /* NULL: none */
    mr_room_share share;   /* of the room; `arena` is charged to it */
    bool has_share;        /* it is open */
    mr_arena arena;        /* of the current window */
    mr_carried carried;
    mr_order *hb;  /* NULL: no order is asked for */
    mr_order *wcp; /* likewise; for windows, when WCP chooses the candidates */
    mr_session *session;
    mr_checker *checker; /* of the full trace; NULL: not needed so far (mr_worker_checker) */
    mr_decide_options decide;
    mr_candidate_options candidates;
    /* Turns a witness of `trace` into one of the full trace; NULL: `trace` is the full one. On
     * MR_ERR_MEMORY the witness stays as it was. */
    mr_status (*expand)(const void *context, mr_witness *witness, mr_error *error);
    const void *expand_context;
    const mr_barrier_edges *opaque; /* of `trace` */
    mr_run run;                     /* times of this worker */
    uint64_t window;                /* under way */
    uint64_t window_steps;          /* spent on it */
    bool halted;                    /* the window was given up: somebody asked for the end */
    mr_error *error;                /* of the call under way */
} mr_worker;

/* To be freed also after MR_ERR_MEMORY. `known` may be NULL. The worker must stay in place. */
mr_status mr_worker_init(mr_worker *worker, const mr_predict_settings *settings,
                         mr_known_races *known, mr_error *error);
void mr_worker_free(mr_worker *worker);

/* Its checker, which is made when there is a witness to check. NULL: no memory. */
mr_checker *mr_worker_checker(mr_worker *worker);

/*
 * A unit of work that takes memory of the room (base/room.h):
 *
 *   mr_worker_begin → (build the window) → mr_worker_asks → (questions) → mr_worker_end
 *
 * What a window takes is waited for; a question that there is no room for is refused, and unknown.
 * Between two units a worker stands at the end of the line, so that nobody waits for one that has
 * nothing to do. mr_worker_leave: it has no more to do at all; its arena is freed.
 */
void mr_worker_begin(mr_worker *worker, mr_room_holder holder);
void mr_worker_asks(mr_worker *worker, bool asks);
void mr_worker_end(mr_worker *worker);
void mr_worker_leave(mr_worker *worker);

/*
 * Decides window number `window` of the plan. `outcome` is new; its verdicts come in the order in
 * which the pairs were found. Windows in ascending order cost no more than what lies between them,
 * read once; going back starts again at the first event. When the run is halted, `worker->halted`
 * is set and the outcome is of no use. MR_ERR_MEMORY.
 */
mr_status mr_worker_decide_window(mr_worker *worker, uint64_t window, mr_outcome *outcome,
                                  mr_error *error);

/*
 * group.c: decides a group of candidates (a static race, or a pair of events) until a race is
 * found, or its budget is used up: it has had its questions without an answer, or the window all
 * its steps. Then what is left of it is unknown, but for races in trace order, which are looked for
 * whatever was spent. Static races in two phases: pairs that trace order confirms, one by one;
 * then, when every pair is wanted, all accesses of two sites at once, halved where that is too
 * hard. The strategy eager asks about every pair of events.
 */
mr_status mr_worker_decide_group(mr_worker *worker, mr_problem *problem,
                                 const mr_candidates *candidates, const mr_candidate_group *group,
                                 mr_pair_verdict *verdict);

/* group.c: asks one question. A race is confirmed and put into the verdict; a witness that the
 * checker refuses makes the verdict unknown. Of the verdict only `has_race`, `race`, `unanswered`
 * and `rejected_witnesses` change. The decision's events are gone when it returns. */
mr_status mr_worker_ask(mr_worker *worker, const mr_problem *problem, mr_pair_verdict *verdict,
                        mr_stops a, mr_stops b, mr_decision *decision);

/* confirm.c: builds, shortens and checks the witness of a decision (window events) and puts the
 * race into the verdict. When the checker refuses it, which is a bug, that is counted, and the
 * decision becomes unknown (rejected): it is never reported as a race. */
mr_status mr_worker_confirm(mr_worker *worker, const mr_window *window, mr_strength strength,
                            mr_decision *decision, mr_pair_verdict *verdict);

/* The same for a witness in events of the worker's trace, which is taken over; of the decision only
 * the step is read. */
mr_status mr_worker_confirm_witness(mr_worker *worker, mr_witness *witness, mr_strength strength,
                                    mr_decision *decision, mr_pair_verdict *verdict);

/* confirm.c: the pair of events of the worker's trace, first < second, has no verdict. The first
 * such pair of a verdict stands for it. */
void mr_pair_verdict_note_unknown(const mr_window *window, uint32_t first, uint32_t second,
                                  mr_strength strength, const mr_decision *decision,
                                  mr_pair_verdict *verdict);

#endif
