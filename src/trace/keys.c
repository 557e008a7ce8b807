#include "keys.h"

#include "base/memory.h"

#include <stdlib.h>

enum { MR_KEYS_MIN_SLOTS = 64 };

static uint32_t hash_key(uint64_t key)
{
    key = (key ^ key >> 32) * 0x9E3779B97F4A7C15u;
    key = (key ^ key >> 29) * 0xBF58476D1CE4E5B9u;
    return (uint32_t)(key >> 32);
}

static uint32_t *find_slot(const mr_keys *keys, uint64_t key)
{
    uint32_t mask = keys->slot_count - 1;
    uint32_t slot = hash_key(key) & mask;
    while (keys->slots[slot] && keys->items[keys->slots[slot]] != key)
        slot = (slot + 1) & mask;
    return &keys->slots[slot];
}

static bool grow_slots(mr_keys *keys)
{
    if (keys->slot_count > UINT32_MAX / 4)
        return false;
    uint32_t slot_count = keys->slot_count ? keys->slot_count * 2 : MR_KEYS_MIN_SLOTS;
    uint32_t *slots = mr_calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    free(keys->slots);
    keys->slots = slots;
    keys->slot_count = slot_count;
    for (uint32_t number = 1; number <= keys->count; number++)
        *find_slot(keys, keys->items[number]) = number;
    return true;
}

bool mr_keys_add(mr_keys *keys, uint64_t key, uint32_t *number)
{
    *number = mr_keys_find(keys, key);
    if (*number)
        return true;
    if (keys->count >= keys->slot_count / 2 && !grow_slots(keys))
        return false;
    void *items = keys->items;
    if (!mr_grow(&items, &keys->capacity, (size_t)keys->count + 2, sizeof *keys->items))
        return false;
    keys->items = items;
    if (!keys->count)
        keys->items[0] = 0;
    uint32_t *slot = find_slot(keys, key);
    keys->items[++keys->count] = key;
    *slot = keys->count;
    *number = keys->count;
    return true;
}

uint32_t mr_keys_find(const mr_keys *keys, uint64_t key)
{
    return keys->slot_count ? *find_slot(keys, key) : 0;
}

void mr_keys_free(mr_keys *keys)
{
    free(keys->items);
    free(keys->slots);
    *keys = (mr_keys){0};
}
