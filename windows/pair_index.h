/* pair_index: a number for each pair of numbers. Zero-initialise, free with mr_pair_index_free. */
#ifndef MR_WINDOWS_PAIR_INDEX_H
#define MR_WINDOWS_PAIR_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_pair_slot {
    uint32_t one, other;
    uint32_t number; /* + 1; 0: free */
} mr_pair_slot;

typedef struct mr_pair_index {
    mr_pair_slot *slots;
    size_t slot_count, count;
} mr_pair_index;

void mr_pair_index_free(mr_pair_index *index);

/* The slot of the ordered pair; when it is free (number 0) and gets a number, the pair is in the
 * index. Valid until the next call. NULL: no memory. O(1) expected. */
mr_pair_slot *mr_pair_index_at(mr_pair_index *index, uint32_t one, uint32_t other);

#endif
