#include "pairs.h"

static uint64_t key_of(uint32_t a, uint32_t b)
{
    return a < b ? mr_map_key(a, b) : mr_map_key(b, a);
}

void mr_pairs_free(mr_pairs *pairs)
{
    mr_map_free(&pairs->numbers);
}

bool mr_pairs_settled(const mr_pairs *pairs, uint32_t location, uint32_t event)
{
    uint64_t key = key_of(location, pairs->trace->location[event]);
    uint32_t number = mr_map_get(&pairs->numbers, key, MR_NONE);
    return number != MR_NONE && pairs->races->items[number].second < event;
}

bool mr_pairs_add(mr_pairs *pairs, uint32_t first, uint32_t second)
{
    mr_shb_races *races = pairs->races;
    const uint32_t *location = pairs->trace->location;
    uint32_t *number =
        mr_map_at(&pairs->numbers, key_of(location[first], location[second]), MR_NONE);
    if (!number)
        return false;
    if (*number != MR_NONE) {
        mr_shb_race *race = &races->items[*number];
        if (race->second == second && race->first < first)
            race->first = first;
        return true;
    }
    void *items = races->items;
    if (!mr_grow(&items, &races->capacity, races->count + 1, sizeof(mr_shb_race)))
        return false;
    races->items = items;
    *number = (uint32_t)races->count;
    races->items[races->count++] = (mr_shb_race){first, second};
    return true;
}
