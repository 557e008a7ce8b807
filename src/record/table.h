/*
 * table: numbers pairs of 64-bit numbers: the first pair added is 0, the next new one 1, and so on.
 * A call takes expected O(1); a pair takes 24 to 32 bytes. Zero-initialise; free with
 * mr_table_free.
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
    uint32_t *slots; /* open addressing: number + 1; 0: the slot is free */
    size_t slot_count;
} mr_table;

/* The number of the pair, which is added when it is new. MR_TABLE_NONE: no memory. */
uint32_t mr_table_add(mr_table *table, mr_pair pair);
/* The number of the pair, or MR_TABLE_NONE when it was not added. */
uint32_t mr_table_find(const mr_table *table, mr_pair pair);
void mr_table_free(mr_table *table);

#endif
