#include "pairs.h"

#include "base/memory.h"

#include <stdlib.h>

static uint32_t hash_pair(mr_pair pair)
{
    return mr_table_hash_u64(pair.high * UINT64_C(0xc2b2ae3d27d4eb4f) ^ pair.low);
}

static uint32_t hash_of(const void *items, uint32_t number)
{
    return hash_pair(((const mr_pair *)items)[number]);
}

static bool same(const void *items, uint32_t number, const void *key)
{
    const mr_pair *item = (const mr_pair *)items + number, *pair = key;
    return item->high == pair->high && item->low == pair->low;
}

uint32_t mr_pairs_find(const mr_pairs *pairs, mr_pair pair)
{
    if (!pairs->count)
        return MR_PAIRS_NONE;
    uint32_t found = *mr_table_slot(&pairs->table, hash_pair(pair), same, pairs->items, &pair);
    return found ? found - 1 : MR_PAIRS_NONE;
}

uint32_t mr_pairs_add(mr_pairs *pairs, mr_pair pair)
{
    uint32_t known = mr_pairs_find(pairs, pair);
    if (known != MR_PAIRS_NONE)
        return known;
    if (!mr_table_reserve(&pairs->table, pairs->count + 1, hash_of, pairs->items, pairs->count))
        return MR_PAIRS_NONE;
    uint32_t *slot = mr_table_slot(&pairs->table, hash_pair(pair), same, pairs->items, &pair);
    void *items = pairs->items;
    if (!mr_grow(&items, &pairs->capacity, (size_t)pairs->count + 1, sizeof pair))
        return MR_PAIRS_NONE;
    pairs->items = items;
    pairs->items[pairs->count++] = pair;
    *slot = pairs->count;
    return pairs->count - 1;
}

void mr_pairs_free(mr_pairs *pairs)
{
    free(pairs->items);
    mr_table_free(&pairs->table);
    *pairs = (mr_pairs){0};
}
