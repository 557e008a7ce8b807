/*
 * far_window: the far window, and the pairs of places that have candidates in it.
 *
 * A far window is a window (windows/window.h) of the reduced trace (reduce.h). Events of a far
 * window and of close pairs have the numbers of the reduced trace. Order of calls:
 *
 *   init → (move → (build → find_places → [add_reported] → [refine] → [list_again])* )* → free
 *
 * `move` chooses the bounds; `build` makes the window of these bounds in one model; `find_places`
 * collects its candidates; `refine` raises its precedence and collects the candidates again, as `list_again` does. One
 * thread, the calling thread, makes these calls, while no unit is under way. Workers read the far
 * window during a phase.
 *
 * A pair of places is settled when the ledger of the result has a race for it. A pair of places
 * that is settled has no candidates in a far window that is built later.
 *
 * Memory: the reduction is owned for the whole time. The window and its candidates are in the
 * arena of the far window until the next `build`. Every function with an `error` may return
 * MR_ERR_MEMORY.
 */
#ifndef MR_FAR_FAR_WINDOW_H
#define MR_FAR_FAR_WINDOW_H

#include "base/progress.h"
#include "close_pairs.h"
#include "order/detect/detect.h"
#include "predict/ledger.h"
#include "predict/settings.h"
#include "reduce.h"
#include "solver/reorder.h"

/* A pair of places that has candidates in the far window. */
typedef struct mr_place_pair {
    const mr_candidate_group *group; /* its candidates; in the arena */
    mr_close_pairs close;            /* the pairs to try first */
    bool no_race;                    /* proven in this far window, in the model of the settings */
    bool open; /* some bundle of the phase at hand was asked about in vain (bundles.h) */
    /* The account of the pair of places (budget.h). `spent` and `refused` are carried from one far
     * window to the next. */
    uint64_t spent;      /* effort */
    uint64_t unanswered; /* questions whose verdict is unknown */
    bool refused;        /* some question was refused for want of memory */
} mr_place_pair;

typedef struct mr_place_pairs {
    mr_place_pair *items; /* owned */
    uint32_t count;
    mr_ledger numbers; /* two places → index in `items`, as unknown_index; owned */
} mr_place_pairs;

typedef struct mr_far_window {
    const mr_predict_settings *settings;
    const mr_ledger *ledger;        /* of the result */
    const mr_progress *progress;    /* of orders on the full trace; may be NULL */
    mr_reduction reduction;         /* owned */
    mr_carried carried;             /* on the reduced trace; owned */
    mr_order *hb, *wcp;             /* on the reduced trace; NULL: they choose no pairs of places */
    mr_candidate_options candidate; /* which candidates are collected */
    mr_race_list reported;          /* the races of HB or WCP on the full trace, once `listed` */
    bool listed;

    mr_arena arena;
    mr_model model; /* of the window; a race in a stricter model is one in the settings' model */
    mr_problem problem;
    mr_foreign_reads foreign; /* for mr_far_try_whole, which lists them */
    mr_candidates candidates;
    mr_place_pairs places;
    bool *proven; /* one a site pair of the candidates: no race of it (bundles.h); in the arena */
    uint32_t *unsettled; /* indices in places.items, ascending; owned */
    uint32_t unsettled_count;
} mr_far_window;

/* Reduces the trace of the settings. The far window must stay in place. To be freed also after an
 * error. O(events). */
mr_status mr_far_window_init(mr_far_window *window, const mr_predict_settings *settings,
                             const mr_ledger *ledger, const mr_progress *progress, mr_error *error);
void mr_far_window_free(mr_far_window *window);

/* Moves the orders to the events [start, end). Needed before the first build of these bounds. */
mr_status mr_far_window_move(mr_far_window *window, uint32_t start, uint32_t end, mr_error *error);
/* Builds the window [start, end) for `model`. O(events of the window · log). */
mr_status mr_far_window_build(mr_far_window *window, uint32_t start, uint32_t end, mr_model model,
                              mr_error *error);
/* Lists the pairs of places that have candidates and are not settled, with their close pairs. */
mr_status mr_far_window_find_places(mr_far_window *window, mr_error *error);
/* Before close pairs are tried: adds those that WCP or HB reports, which takes a pass over the full trace the first time. */
mr_status mr_far_window_add_reported(mr_far_window *window, mr_error *error);

/* Raises the precedence of a far window (mr_problem_refine). False: no memory. */
bool mr_far_problem_refine(mr_problem *problem, const mr_decide_options *decide, mr_arena *arena);

/* The same for the window, and lists the pairs of places that are not settled again. `*no_race`: how many pairs of places that were not settled have no candidates any
 * more. */
mr_status mr_far_window_refine(mr_far_window *window, const mr_decide_options *decide,
                               uint32_t *no_race, mr_error *error);

/* The second half of that, for when the precedence was raised otherwise. */
mr_status mr_far_window_list_again(mr_far_window *window, uint32_t *no_race, mr_error *error);

/* Lists the pairs of places that are neither settled nor no race as `unsettled`, and returns their
 * number. */
uint32_t mr_far_window_list_unsettled(mr_far_window *window);

/* Has the pair of places a race? During a phase: with the lock of the budget. */
bool mr_far_window_is_settled(const mr_far_window *window, const mr_place_pair *places);
/* The pair of places with these locations; NULL: it has no candidates in the far window. */
const mr_place_pair *mr_far_window_find(const mr_far_window *window, uint32_t location_1,
                                        uint32_t location_2);

/* The unknown that stands for a pair of places without a verdict in the far window. Its events are
 * those of the full trace; its reason is that of the decision. */
mr_unknown mr_far_window_unknown(const mr_far_window *window, const mr_place_pair *places,
                                 const mr_decision *decision);

/* Writes a debug line (topic far): the verdict of a pair of places and the effort spent on it.
 * `reason` says more of the verdict; NULL: there is nothing to say. */
void mr_far_window_tell(const mr_far_window *window, const mr_place_pair *places,
                        const char *verdict, const char *reason);

/* Builds the window [start, end) of the reduced trace that `carried` belongs to. The arena is reset
 * first. */
mr_status mr_reduced_window_build(mr_carried *carried, uint32_t start, uint32_t end, mr_model model,
                                  mr_arena *arena, mr_window **window, mr_error *error);

#endif
