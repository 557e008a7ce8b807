/*
 * far_decider: the state of mr_far_decide (far.h), shared by its files: far_ask.c asks
 * questions and counts the work, far_windows.c puts windows around pairs of accesses, far_decide.c
 * drives them.
 */
#ifndef MR_PREDICT_FAR_DECIDER_H
#define MR_PREDICT_FAR_DECIDER_H

#include "far.h"
#include "far_pairs.h"
#include "order/detect.h"

/* Windows around different pairs of one static race, for each size. */
enum { MR_FAR_PLACES = 4 };

/* A static race that has candidates in the far window. */
typedef struct mr_open_race {
    uint32_t group; /* of `candidates` */
    bool no_race;   /* proven in the far window */
    mr_close_pairs pairs;
    uint64_t spent;      /* work */
    uint64_t unanswered; /* questions */
    mr_decision open;    /* the first answer without a verdict in the far window */
} mr_open_race;

/* A window that one of them asks for. */
typedef struct mr_far_request {
    uint32_t start, end;
    mr_close_pair pair;
    uint32_t race;
} mr_far_request;

typedef struct mr_decider {
    mr_far_phase *phase;
    const mr_far_limits *limits;
    mr_reduction reduction;
    mr_worker far;         /* on the reduced trace; session and checker are the phase's */
    mr_order *hb, *wcp;    /* on the reduced trace, when they choose the static races; else NULL */
    mr_model model;        /* of the windows: a race of a stricter model is one of the settings' */
    mr_race_list reported; /* by HB or WCP on the full trace, when `listed` */
    bool listed;
    bool cheap; /* without formulas */
    bool mixed; /* most variables by source */

    mr_arena arena; /* of the far window */
    mr_problem problem;
    mr_candidates candidates;
    mr_open_race *open;
    uint32_t open_count;
    mr_ledger numbers; /* pair of locations to index in `open` */
    mr_far_request *requests;
    uint32_t request_count;
    uint64_t spent;
} mr_decider;

/* far_ask.c */

const mr_candidate_group *mr_decider_group_of(const mr_decider *d, const mr_open_race *race);

/* A record for the static race, empty. */
mr_record mr_decider_record_of(const mr_decider *d, const mr_open_race *race);

/* What an answer means for the result. */
mr_status mr_decider_merge(mr_decider *d, mr_record *record);

/* Is it a race? */
bool mr_decider_is_settled(const mr_decider *d, const mr_open_race *race);

/* Is there a budget for that much work, with what has been spent? */
bool mr_decider_can_pay(const mr_decider *d, const mr_open_race *race, uint64_t work);
void mr_decider_pay(mr_decider *d, mr_open_race *race, uint64_t work);

/* Builds a window of the reduced trace in the decider's model, in memory of `arena`, which is
 * reset. */
mr_status mr_decider_build(mr_decider *d, uint32_t start, uint32_t end, mr_arena *arena,
                           mr_window **window);
/* Makes a problem of it. */
mr_status mr_decider_pose(mr_decider *d, const mr_window *window, mr_arena *arena,
                          mr_problem *problem);

/* Is there a witness in trace order, but for sections that are held back (solver/reorder.h)? The
 * pair is one of window events. Costs the events of the window; does nothing without a budget. */
mr_status mr_decider_try_reorder(mr_decider *d, mr_open_race *race, const mr_problem *problem,
                                 mr_close_pair pair);

/* Asks about the accesses of two lists; unknown (budget) when there is none left. */
mr_status mr_decider_ask(mr_decider *d, mr_open_race *race, const mr_problem *problem, mr_stops one,
                         mr_stops two, mr_decision *decision);

/* far_windows.c: decides the open static races on windows around their closest pairs, of one size
 * after the other. */
mr_status mr_decider_try_sizes(mr_decider *d);

#endif
