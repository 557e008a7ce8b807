/*
 * close_pairs: the pairs of events of two places that are closest to each other in the trace.
 *
 * Close pairs are tried first: the window around such a pair is small. At most 64 pairs are kept.
 */
#ifndef MR_FAR_CLOSE_PAIRS_H
#define MR_FAR_CLOSE_PAIRS_H

#include "solver/decide.h"
#include "windows/candidates.h"

enum { MR_CLOSE_PAIRS = 64 };

typedef struct mr_close_pair {
    uint32_t first, second; /* events of the window's trace, first < second */
} mr_close_pair;

typedef struct mr_close_pairs {
    mr_close_pair items[MR_CLOSE_PAIRS]; /* by distance, the closest first */
    uint32_t count;
} mr_close_pairs;

/*
 * Finds the close pairs of a group of candidates. Each access of one place is paired with the last
 * access of the other place before it, when they hold no common lock and FORCED leaves them
 * unordered. Of these pairs the closest are kept. (Where FORCED orders the two, it orders all
 * earlier accesses of the other place before the one, too.) O(accesses · lists of the other place).
 */
void mr_close_pairs_find(mr_close_pairs *pairs, const mr_problem *problem,
                         const mr_candidates *candidates, const mr_candidate_group *group);

/* Puts a pair in front of the others. When there are 64 already, the last one is dropped. */
void mr_close_pairs_add(mr_close_pairs *pairs, uint32_t first, uint32_t second);

#endif
