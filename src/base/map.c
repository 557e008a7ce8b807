#include "map.h"

#include "memory.h"

#include <stdlib.h>

void mr_map_free(mr_map *map)
{
    free(map->items);
    mr_table_free(&map->table);
    *map = (mr_map){0};
}

static uint32_t hash_of(const void *items, uint32_t number)
{
    return mr_table_hash_u64(((const mr_map_item *)items)[number].key);
}

uint32_t *mr_map_at(mr_map *map, uint64_t key, uint32_t fresh)
{
    if (!mr_table_reserve(&map->table, map->count + 1, hash_of, map->items, map->count))
        return NULL;
    uint32_t *slot =
        mr_table_slot(&map->table, mr_table_hash_u64(key), mr_map_same, map->items, &key);
    if (!*slot) {
        void *items = map->items;
        if (!mr_grow(&items, &map->capacity, (size_t)map->count + 1, sizeof *map->items))
            return NULL;
        map->items = items;
        map->items[map->count++] = (mr_map_item){key, fresh};
        *slot = map->count;
    }
    return &map->items[*slot - 1].value;
}
