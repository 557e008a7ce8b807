/*
 * apart: the pairs of places of a window whose accesses are never together (solver/together.h), so that they have no race.
 *
 * Where threads take locks in any order, or are many, a window has too many states to go through (survey.h). The states of each two
 * threads are few, and say more of the other pairs, too: how far each thread has come when an event has happened.
 */
#ifndef MR_PREDICT_APART_H
#define MR_PREDICT_APART_H

#include "worker.h"

#include "base/map.h"
#include "solver/together.h"

/* Are no access of the one place and one of the other of a group, with all its site pairs, without a common lock ever together? */
bool mr_apart_are(const mr_window *window, const mr_candidates *candidates,
                  const mr_candidate_group *group, const mr_together *together);

/* Adds to `pairs` (keys of mr_map_key_of_two) the pairs of events that may be together, of the groups that are not settled; `candidates` have
 * all site pairs of these. False: too many, or no memory. */
bool mr_apart_pairs(const mr_window *window, const mr_candidates *candidates, const bool *settled,
                    const mr_together *together, mr_map *pairs);

/* What the states of each two threads say of a window. Zero is nothing. */
typedef struct mr_apart {
    mr_arena arena;    /* owned; of the clocks of `raised` */
    mr_problem raised; /* the problem with more precedence, when there is one */
    bool is_raised;
    const mr_together *together; /* until the pairs are listed; NULL: it gave up */
    /* The pairs of events (mr_map_key_of_two) that may be together, of the groups that are not settled. */
    mr_map pairs;     /* owned */
    bool has_pairs;   /* false: they are not known, or too many */
    uint32_t settled; /* pairs of places that are never together */
} mr_apart;

/* Sets `settled` for each group whose places are never together; `candidates` have all site pairs. Without the step cone `problem`
 * is not raised, as nothing asks for precedence then. Gives up where that takes much, and in windows with many threads and variables: nothing is settled. No budget counts.
 * MR_ERR_MEMORY. `apart` is zero, and to be freed in any case. What it keeps until mr_apart_list_pairs is memory of the worker's arena. */
mr_status mr_apart_search(mr_worker *worker, const mr_problem *problem,
                          const mr_candidates *candidates, bool *settled, mr_apart *apart);

/* Lists the pairs of events that may be together, of the groups that are not settled by now. */
void mr_apart_list_pairs(mr_apart *apart, const mr_window *window, const mr_candidates *candidates,
                         const bool *settled);

void mr_apart_free(mr_apart *apart);

#endif
