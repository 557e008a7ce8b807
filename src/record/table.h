/*
 * table: pairs of 64-bit numbers to dense numbers 0, 1, … in the order of first appearance. O(1)
 * expected; 24 to 32 bytes a pair. Zero-initialise; free with mr_table_free.
 */
#ifndef MR_RECORD_TABLE_H
#define MR_RECORD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MR_TABLE_NONE UINT32_MAX

typedef struct mr_pair {
    uint64_t high, low;
} mr_pair;

typedef struct mr_table {
    mr_pair *items; /* by number */
    uint32_t count;
    size_t capacity;
    uint32_t *slots; /* number + 1, open addressing; 0: free */
    size_t slot_count;
} mr_table;

/* The number of the pair, added when new. MR_TABLE_NONE: no memory. */
uint32_t mr_table_add(mr_table *table, mr_pair pair);
/* The number, or MR_TABLE_NONE. */
uint32_t mr_table_find(const mr_table *table, mr_pair pair);
void mr_table_free(mr_table *table);

#endif
