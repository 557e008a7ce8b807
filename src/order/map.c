#include "map.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t FREE_SLOT = UINT64_MAX;

void mr_map_free(mr_map *map)
{
    free(map->keys);
    free(map->values);
    *map = (mr_map){0};
}

/* Mixes all bits of the key into the low ones (multiply and fold, twice). */
static size_t hash(uint64_t key)
{
    key = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ key >> 29) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(key ^ key >> 32);
}

/* The slot that holds `key`, or the free slot where it belongs. The slot count is a power of two.
 */
static size_t find_slot(const uint64_t *keys, size_t slot_count, uint64_t key)
{
    size_t slot = hash(key) & (slot_count - 1);
    while (keys[slot] != key && keys[slot] != FREE_SLOT)
        slot = (slot + 1) & (slot_count - 1);
    return slot;
}

static bool grow(mr_map *map)
{
    size_t slot_count = map->slot_count ? map->slot_count * 2 : 16;
    uint64_t *keys = mr_realloc(NULL, slot_count, sizeof *keys);
    uint32_t *values = mr_realloc(NULL, slot_count, sizeof *values);
    if (!keys || !values) {
        free(keys);
        free(values);
        return false;
    }
    memset(keys, 0xff, slot_count * sizeof *keys);
    for (size_t i = 0; i < map->slot_count; i++) {
        if (map->keys[i] == FREE_SLOT)
            continue;
        size_t slot = find_slot(keys, slot_count, map->keys[i]);
        keys[slot] = map->keys[i];
        values[slot] = map->values[i];
    }
    free(map->keys);
    free(map->values);
    map->keys = keys;
    map->values = values;
    map->slot_count = slot_count;
    return true;
}

uint32_t *mr_map_at(mr_map *map, uint64_t key, uint32_t fresh)
{
    if (map->count >= map->slot_count / 3 * 2 && !grow(map))
        return NULL;
    size_t slot = find_slot(map->keys, map->slot_count, key);
    if (map->keys[slot] == FREE_SLOT) {
        map->keys[slot] = key;
        map->values[slot] = fresh;
        map->count++;
    }
    return &map->values[slot];
}

uint32_t mr_map_get(const mr_map *map, uint64_t key, uint32_t absent)
{
    if (!map->slot_count)
        return absent;
    size_t slot = find_slot(map->keys, map->slot_count, key);
    return map->keys[slot] == FREE_SLOT ? absent : map->values[slot];
}
