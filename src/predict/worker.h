/*
 * worker: all that a thread needs to decide windows, one after the other. Every thread has a worker
 * of its own; settings, trace and known races are shared.
 */
#ifndef MR_PREDICT_WORKER_H
#define MR_PREDICT_WORKER_H

#include "deferred.h"
#include "known_races.h"
#include "order/order.h"
#include "order/wanted.h"
#include "outcome.h"
#include "settings.h"
#include "solver/reorder.h"
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
    mr_order *hb;  /* NULL: not needed so far */
    mr_order *wcp; /* likewise; needed when WCP chooses the candidates of windows */
    mr_session *session;
    mr_checker *checker; /* of the full trace; NULL: not needed so far */
    mr_decide_options decide;
    mr_candidate_options candidates;
    /* Turns a witness of `trace` into one of the full trace; NULL: `trace` is the full one. On
     * MR_ERR_MEMORY the witness stays as it was. */
    mr_status (*expand)(const void *context, mr_witness *witness, mr_error *error);
    const void *expand_context;
    const mr_barrier_edges *opaque; /* of `trace` */
    mr_run_figures run;             /* times of this worker */
    uint64_t window;                /* the number of the window under way */
    uint64_t window_steps;          /* the effort spent on it */
    const mr_deferred *only;        /* a window asks about what it has left alone; or NULL */
    struct mr_near *near;           /* close races of the window (near.h); NULL: not looked for */
    const mr_window *near_in;       /* the window in which they are being looked for; else NULL */
    uint64_t rejected_witnesses;    /* of verdicts that were dropped (mr_worker_drop) */
    bool halted;                    /* the window was given up, as the run is halted */
    bool
        trusts; /* takes promises of lower windows (known_races.h); the merge looks whether they were kept */
    bool puts_off; /* a group that is hard, and that a lower window may settle, is put off: then */
    bool has_put_off; /*   its verdict is to be forgotten */
    bool leaves_long; /* witnesses are not shortened now (witness/late.h) */
    mr_error *error;  /* of the call under way */
} mr_worker;

/* To be freed also after MR_ERR_MEMORY. `known` may be NULL. The worker must stay in place. */
mr_status mr_worker_init(mr_worker *worker, const mr_predict_settings *settings,
                         mr_known_races *known, mr_error *error);
void mr_worker_free(mr_worker *worker);

/* The checker of the worker, which is made by the first call. NULL: no memory. */
mr_checker *mr_worker_checker(mr_worker *worker);

/*
 * How the worker takes memory from the room (base/room.h) for a unit:
 *
 *   mr_worker_begin → (build the window) → mr_worker_asks → (questions) → mr_worker_end
 *
 * The worker waits for the memory of a window. A question for which the room has no memory is
 * refused, and unknown. Between two units the share of the worker rests, so that other workers do not
 * wait for an idle one. mr_worker_leave frees the arena after the last unit.
 */
void mr_worker_begin(mr_worker *worker, mr_room_holder holder);
void mr_worker_asks(mr_worker *worker, bool asks);
void mr_worker_end(mr_worker *worker);
void mr_worker_leave(mr_worker *worker);

/* For the status of a unit that was decided: when the run was asked to end meanwhile, sets
 * `worker->halted`, and memory that was refused for it is no error. */
mr_status mr_worker_ended(mr_worker *worker, mr_status status);

/* For a search for which there was no memory. MR_OK, and the rest is left unasked: the arena refused it, which does not
 * wait here. Else the system has none: MR_ERR_MEMORY. */
mr_status mr_worker_out_of_memory(mr_worker *worker);

/* Makes the orders of a piece of the trace. HB alone is enough to try its races first. WCP labels races at
 * the end of the run (label.h); here it is needed only when it chooses the candidates. */
mr_status mr_worker_order(mr_worker *worker, uint32_t start, uint32_t end);

/*
 * Decides window number `window` of the plan. `outcome` is new; its verdicts come in the order in
 * which the pairs were found. A worker that gets windows in ascending order reads each event
 * between them once; for a lower window it starts again at the first event. When the run is halted,
 * `worker->halted` is set, and the outcome has the races that were found until then and is `cut`.
 * MR_ERR_MEMORY.
 */
mr_status mr_worker_decide_window(mr_worker *worker, uint64_t window, mr_outcome *outcome,
                                  mr_error *error);

/*
 * group.c: decides a group of candidates: those of two places, or one pair of events. First it
 * looks for a witness in trace order, pair by pair; that is done whatever was spent. Then it tries
 * some pairs with sections held back. Then it asks questions until it finds a race or the budget
 * ends: too many questions of the group without an answer, or the steps of the window spent. The
 * rest of the group is unknown then. When every pair is wanted, one question is about all accesses
 * of two places; where that is too hard, half of them are asked about. The strategy eager asks about
 * every pair of events.
 */
mr_status mr_worker_decide_group(mr_worker *worker, mr_problem *problem,
                                 const mr_candidates *candidates, const mr_candidate_group *group,
                                 mr_pair_verdict *verdict);

/* Takes the last verdict, which has no race, out of an outcome. The witnesses that the checker has rejected
 * for it count with the next pair of a window. */
void mr_worker_drop(mr_worker *worker, mr_outcome *outcome);

/* group.c: only the attempts in trace order. Without a race the verdict says nothing. */
mr_status mr_worker_try_group(mr_worker *worker, const mr_problem *problem,
                              const mr_candidates *candidates, const mr_candidate_group *group,
                              mr_pair_verdict *verdict);

/* group.c: asks one question. A race is confirmed and put into `verdict`; when the checker rejects
 * the witness, the decision is unknown. Of `verdict` only `has_race`, `race`, `unanswered`, `steps`
 * and `rejected_witnesses` change. The events of the decision are freed. */
mr_status mr_worker_ask(mr_worker *worker, const mr_problem *problem, mr_pair_verdict *verdict,
                        mr_stops a, mr_stops b, mr_decision *decision);

/* confirm.c: builds, shortens and checks the witness of a decision (window events), and puts the
 * race into `verdict`. A witness that the checker rejects is a bug of maxrace: it is counted, and
 * the decision becomes unknown (rejected), never a race. */
mr_status mr_worker_confirm(mr_worker *worker, const mr_window *window, mr_strength strength,
                            mr_decision *decision, mr_pair_verdict *verdict);

/* confirm.c: looks for a witness for two window events, first < second, in trace order but for sections that are held
 * back (solver/reorder.h), and confirms it. When there is not enough memory for that, there is none. MR_ERR_MEMORY. */
mr_status mr_worker_try_reorder(mr_worker *worker, const mr_problem *problem,
                                const mr_foreign_reads *foreign, mr_strength strength,
                                uint32_t first, uint32_t second, mr_pair_verdict *verdict);

/* mr_worker_confirm for a witness in events of the worker's trace. The witness is taken over; of the
 * decision only the step is read. */
mr_status mr_worker_confirm_witness(mr_worker *worker, mr_witness *witness, mr_strength strength,
                                    mr_decision *decision, mr_pair_verdict *verdict);

/* confirm.c: shortens and checks a witness in events of the worker's trace, and turns it into one of the
 * full trace. In a part of a trace (mr_trace.runs) there is no checker: each witness is accepted, and whoever takes the
 * outcome with the whole trace checks it. Not accepted: the witness is freed, and the checker rejected it unless there is an
 * error. */
mr_status mr_worker_check_witness(mr_worker *worker, mr_witness *witness, bool *accepted);

/* confirm.c: notes in `verdict` that a pair of events of the worker's trace, first < second, is
 * unknown. Only the first such pair is kept. */
void mr_pair_verdict_note_unknown(const mr_window *window, uint32_t first, uint32_t second,
                                  mr_strength strength, const mr_decision *decision,
                                  mr_pair_verdict *verdict);

#endif
