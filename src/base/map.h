/*
 * map: 64-bit keys (or pairs of 32-bit numbers) to 32-bit values. O(1) expected, 24 to 32 bytes a
 * key. Nothing is ever removed. Zero-initialise; free with mr_map_free.
 */
#ifndef MR_BASE_MAP_H
#define MR_BASE_MAP_H

#include "table.h"

typedef struct mr_map_item {
    uint64_t key;
    uint32_t value;
} mr_map_item;

typedef struct mr_map {
    mr_map_item *items; /* in the order in which the keys were added */
    uint32_t count;
    size_t capacity;
    mr_table table;
} mr_map;

static inline uint64_t mr_map_key(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* The key of two numbers, whichever comes first. */
static inline uint64_t mr_map_key_of_two(uint32_t a, uint32_t b)
{
    return a < b ? mr_map_key(a, b) : mr_map_key(b, a);
}

static inline bool mr_map_same(const void *items, uint32_t number, const void *key)
{
    return ((const mr_map_item *)items)[number].key == *(const uint64_t *)key;
}

void mr_map_free(mr_map *map);

/* The place of the value of `key`; added with value `fresh` when new. The place is valid until the
 * next mr_map_at. NULL: no memory. */
uint32_t *mr_map_at(mr_map *map, uint64_t key, uint32_t fresh);

/* The value of `key`, or `absent`. */
static inline uint32_t mr_map_get(const mr_map *map, uint64_t key, uint32_t absent)
{
    if (!map->count)
        return absent;
    uint32_t found =
        *mr_table_slot(&map->table, mr_table_hash_u64(key), mr_map_same, map->items, &key);
    return found ? map->items[found - 1].value : absent;
}

#endif
