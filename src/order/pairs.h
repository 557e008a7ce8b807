/*
 * pairs: the static races found so far, each with its example: of the event pairs with the smallest
 * `second`, the one with the latest `first`. Pairs must come in the order of `second`.
 */
#ifndef MR_ORDER_PAIRS_H
#define MR_ORDER_PAIRS_H

#include "map.h"
#include "shb.h"

typedef struct mr_pairs {
    const mr_trace *trace; /* borrowed */
    mr_shb_races *races;   /* borrowed */
    mr_map numbers;        /* (smaller location, greater location) to index in `races` */
} mr_pairs;

void mr_pairs_free(mr_pairs *pairs);

/* Was a race between these locations found with a `second` before `event`? Then no race of `event`
 * with an access at `location` is of interest. */
bool mr_pairs_settled(const mr_pairs *pairs, uint32_t location, uint32_t event);

/* Adds a race, or improves the example. False: no memory. */
bool mr_pairs_add(mr_pairs *pairs, uint32_t first, uint32_t second);

#endif
