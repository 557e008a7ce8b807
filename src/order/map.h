/*
 * map: 64-bit keys (a pair of 32-bit numbers) to 32-bit values. Open addressing, O(1) expected,
 * 12 bytes a slot, at most two thirds full. Nothing is ever removed. Zero-initialise.
 */
#ifndef MR_ORDER_MAP_H
#define MR_ORDER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_map {
    uint64_t *keys; /* UINT64_MAX: free; never a key, as numbers of events and names are smaller */
    uint32_t *values;
    size_t slot_count, count;
} mr_map;

static inline uint64_t mr_map_key(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

void mr_map_free(mr_map *map);

/* The place of the value of `key`; added with value `fresh` when new. The place is valid until the
 * next mr_map_at. NULL: no memory. */
uint32_t *mr_map_at(mr_map *map, uint64_t key, uint32_t fresh);

/* The value of `key`, or `absent`. */
uint32_t mr_map_get(const mr_map *map, uint64_t key, uint32_t absent);

#endif
