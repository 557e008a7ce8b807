#include "keys.h"

#include "memory.h"

#include <stdlib.h>

static uint32_t hash_of(const void *items, uint32_t number)
{
    return mr_table_hash_u64(((const uint64_t *)items)[number + 1]);
}

bool mr_keys_add(mr_keys *keys, uint64_t key, uint32_t *number)
{
    if (!mr_table_reserve(&keys->table, keys->count + 1, hash_of, keys->items, keys->count))
        return false;
    uint32_t *slot =
        mr_table_slot(&keys->table, mr_table_hash_u64(key), mr_keys_same, keys->items, &key);
    *number = *slot;
    if (*slot)
        return true;
    void *items = keys->items;
    if (!mr_grow(&items, &keys->capacity, (size_t)keys->count + 2, sizeof *keys->items))
        return false;
    keys->items = items;
    if (!keys->count)
        keys->items[0] = 0;
    keys->items[++keys->count] = key;
    *slot = *number = keys->count;
    return true;
}

void mr_keys_free(mr_keys *keys)
{
    free(keys->items);
    mr_table_free(&keys->table);
    *keys = (mr_keys){0};
}
