/* far_pairs: the pairs of events of a static race that are closest to each other. */
#ifndef MR_FAR_PAIRS_H
#define MR_FAR_PAIRS_H

#include "solver/decide.h"
#include "windows/candidates.h"

enum { MR_CLOSE_PAIRS = 64 };

typedef struct mr_close_pair {
    uint32_t first, second; /* events of the window's trace, first < second */
} mr_close_pair;

typedef struct mr_close_pairs {
    mr_close_pair items[MR_CLOSE_PAIRS]; /* by distance */
    uint32_t count;
} mr_close_pairs;

/*
 * Of each access of the group's sites and the last access of the other site before it, when they
 * have no common lock and FORCED leaves them unordered: the pairs with the least distance. (Where
 * FORCED orders these two, it orders all earlier accesses of the other site before the one, too.)
 * O(accesses · lists of the other site).
 */
void mr_close_pairs_find(mr_close_pairs *pairs, const mr_problem *problem,
                         const mr_candidates *candidates, const mr_candidate_group *group);

/* Puts a pair in front of the others. */
void mr_close_pairs_add(mr_close_pairs *pairs, uint32_t first, uint32_t second);

#endif
