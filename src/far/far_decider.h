/*
 * far_decider: the state of mr_far_decide (far.h), shared by its files.
 *
 *   far_decide.c   far windows and models, one after the other, and the phases of each
 *   far_open.c     which static races are open in a far window, and their pairs of accesses
 *   far_windows.c  phases: windows around pairs of accesses, of one size after the other
 *   far_whole.c    phases: questions to the far window itself
 *   far_ask.c      one question: by a worker
 *   far_budget.c   what has been paid for, and what an answer means: by the calling thread
 *   far_units.c    a phase of units, and its workers
 *
 * The calling thread plans a phase when no unit is under way. During the phase the plan, the far
 * window and the open pairs of places do not change. Only `spent`, `unanswered`, `refused` and
 * `no_race` of a pair of places, `spent` of the decider, and the ledger change as outcomes are
 * merged, under the lock.
 */
#ifndef MR_FAR_DECIDER_H
#define MR_FAR_DECIDER_H

#include "far.h"
#include "far_pairs.h"
#include "order/detect/detect.h"
#include "reduce.h"

#include <pthread.h>

/* Windows around different pairs of one static race, for each size. */
enum { MR_FAR_PLACES = 4 };

/* A pair of places that has candidates in the far window. */
typedef struct mr_open_race {
    uint32_t group; /* of `candidates` */
    bool no_race;   /* proven in the far window */
    mr_close_pairs pairs;
    uint64_t spent;      /* work */
    uint64_t unanswered; /* questions */
    bool refused;        /* a question that was paid for was refused for want of memory */
} mr_open_race;

/* Decides units. */
typedef struct mr_far_worker {
    mr_worker worker;   /* on the reduced trace; session and checker are those of the full one's */
    mr_problem problem; /* of the window around pairs that was built last, in the worker's arena */
    uint64_t built;     /* its serial number (far_windows.c); 0: none */
} mr_far_worker;

typedef struct mr_decider {
    mr_far_context *context;
    const mr_far_limits *limits;
    mr_error *error; /* of mr_far_decide */
    mr_reduction reduction;
    mr_decide_options decide;           /* of every question */
    mr_candidate_options candidate_set; /* which candidates the far window has */
    mr_carried carried;                 /* on the reduced trace; for far windows */
    mr_order *hb, *wcp;    /* on the reduced trace, when they choose the static races; else NULL */
    mr_model model;        /* of the windows: a race of a stricter model is one of the settings' */
    mr_race_list reported; /* by HB or WCP on the full trace, when `listed` */
    bool listed;

    mr_arena arena; /* of the far window */
    mr_problem problem;
    mr_candidates candidates;
    mr_open_race *open;
    uint32_t open_count;
    mr_ledger numbers; /* pair of locations to index in `open` */
    uint32_t *todo;    /* indices in `open`: the units of a phase in the far window */
    uint32_t todo_count;
    uint64_t windows; /* around pairs, in all phases before */

    mr_far_worker **workers; /* one a job, made when it is needed */
    pthread_mutex_t lock;
    uint64_t spent; /* work, in all */
} mr_decider;

/* ---- far_units.c ---- */

/* A kind of units. `decide` adds to the outcome what the worker finds; when the run is halted
 * (worker.halted) that is not used. `merge` is called in the order of the units, with the lock.
 * `context` is for all three. */
typedef struct mr_far_units {
    void *context;
    uint64_t count;
    mr_status (*decide)(void *context, mr_far_worker *worker, mr_outcome *outcome);
    mr_status (*merge)(void *context, mr_outcome *outcome, mr_error *error);
} mr_far_units;

mr_status mr_decider_run(mr_decider *d, const mr_far_units *units);
void mr_decider_free_workers(mr_decider *d);

/* Has somebody asked for the end of the run? */
bool mr_decider_is_halted(const mr_decider *d);

/* ---- far_open.c ---- */

/* Finds the candidates of the far window, and lists their static races as `open`. */
mr_status mr_decider_find_open(mr_decider *d);
/* How many of them are no races so far; names them as `todo`. */
uint32_t mr_decider_count_open(mr_decider *d);

const mr_candidate_group *mr_decider_group_of(const mr_decider *d, const mr_open_race *race);

/* ---- far_budget.c ---- */

/* Is it a race? With the lock, or when no unit is under way; so is all below but where it says
 * otherwise. */
bool mr_decider_is_settled(const mr_decider *d, const mr_open_race *race);
/* Is it none so far, and is there budget for that much work? */
bool mr_decider_is_due(const mr_decider *d, const mr_open_race *race, uint64_t work);
/* May a question be asked about it, so far as such work and questions without an answer are not
 * counted yet? */
bool mr_decider_may_ask(const mr_decider *d, const mr_open_race *race, uint64_t work,
                        uint64_t unanswered);
/* The same, by a thread that does not hold the lock. */
bool mr_decider_is_due_now(mr_decider *d, const mr_open_race *race, uint64_t work);
bool mr_decider_may_ask_now(mr_decider *d, const mr_open_race *race, uint64_t work,
                            uint64_t unanswered);
void mr_decider_pay(mr_decider *d, mr_open_race *race, uint64_t work);

/* Counts an answer: pays for it and adds it to the result. */
mr_status mr_decider_count(mr_decider *d, mr_open_race *race, mr_pair_verdict *verdict,
                           mr_error *error);

/* The last word about a static race without a race: unknown as in `open`, or none when it is NULL.
 */
mr_status mr_decider_conclude(mr_decider *d, mr_open_race *race, const mr_unknown *open,
                              mr_error *error);

/* ---- far_ask.c ---- */

/* A new verdict of the outcome, for an answer about a pair of accesses; NULL: no memory. */
mr_pair_verdict *mr_decider_answer(const mr_decider *d, const mr_open_race *race,
                                   mr_close_pair pair, mr_outcome *outcome);

/* Builds a window of the reduced trace around pairs, or over all of it, in the decider's model and
 * in memory of `arena`, and makes a problem of it. */
mr_status mr_decider_build(mr_carried *carried, uint32_t start, uint32_t end, mr_model model,
                           mr_arena *arena, mr_window **window, mr_error *error);
mr_status mr_decider_pose(const mr_window *window, mr_arena *arena, mr_problem *problem,
                          mr_error *error);

/* Is there a witness in trace order, but for sections that are held back (solver/reorder.h)? The
 * pair is one of window events. */
mr_status mr_decider_try_reorder(mr_worker *worker, const mr_problem *problem, mr_close_pair pair,
                                 mr_pair_verdict *verdict);
/* Asks about the accesses of two lists. */
mr_status mr_decider_ask(mr_worker *worker, const mr_problem *problem, mr_stops one, mr_stops two,
                         mr_decision *decision, mr_pair_verdict *verdict);

/* What is unknown when the static race has no verdict in the far window. */
mr_unknown mr_decider_unknown(const mr_decider *d, const mr_open_race *race,
                              const mr_decision *decision);

/* ---- far_windows.c ---- */

/* How the open static races are tried on windows around their closest pairs. */
typedef enum mr_far_way {
    MR_FAR_CHEAP, /* without formulas */
    MR_FAR_MIXED, /* by formulas, most variables by source */
    MR_FAR_PLAIN, /* by formulas, in the decider's model */
} mr_far_way;

/* Tries them on windows of one size after the other. */
mr_status mr_decider_try_sizes(mr_decider *d, mr_far_way way);

/* ---- far_whole.c ---- */

/* Tries the closest pairs of the open static races in the far window, without formulas. */
mr_status mr_decider_try_whole(mr_decider *d);
/* The last word on the open static races, in the far window. */
mr_status mr_decider_decide_whole(mr_decider *d);

#endif
