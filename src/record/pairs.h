/*
 * pairs: pairs of 64-bit numbers to dense numbers 0, 1, … in the order of first appearance. O(1)
 * expected; 24 to 32 bytes a pair. Zero-initialise; free with mr_pairs_free.
 */
#ifndef MR_RECORD_PAIRS_H
#define MR_RECORD_PAIRS_H

#include "base/table.h"

#define MR_PAIRS_NONE UINT32_MAX

typedef struct mr_pair {
    uint64_t high, low;
} mr_pair;

typedef struct mr_pairs {
    mr_pair *items; /* by number */
    uint32_t count;
    size_t capacity;
    mr_table table;
} mr_pairs;

/* The number of the pair, added when new. MR_PAIRS_NONE: no memory. */
uint32_t mr_pairs_add(mr_pairs *pairs, mr_pair pair);
/* The number, or MR_PAIRS_NONE. */
uint32_t mr_pairs_find(const mr_pairs *pairs, mr_pair pair);
void mr_pairs_free(mr_pairs *pairs);

#endif
