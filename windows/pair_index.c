#include "pair_index.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>

void mr_pair_index_free(mr_pair_index *index)
{
    free(index->slots);
    *index = (mr_pair_index){0};
}

static mr_pair_slot *find(const mr_pair_index *index, uint32_t one, uint32_t other)
{
    uint64_t hash = ((uint64_t)one << 32 | other) * 0x9e3779b97f4a7c15u;
    size_t slot = (size_t)(hash >> 24) & (index->slot_count - 1);
    while (index->slots[slot].number &&
           (index->slots[slot].one != one || index->slots[slot].other != other))
        slot = (slot + 1) & (index->slot_count - 1);
    return &index->slots[slot];
}

static bool grow(mr_pair_index *index)
{
    mr_pair_index larger = {.slot_count = index->slot_count ? 2 * index->slot_count : 256};
    larger.slots = mr_calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < index->slot_count; i++) {
        const mr_pair_slot *slot = &index->slots[i];
        if (!slot->number)
            continue;
        *find(&larger, slot->one, slot->other) = *slot;
        larger.count++;
    }
    free(index->slots);
    *index = larger;
    return true;
}

mr_pair_slot *mr_pair_index_at(mr_pair_index *index, uint32_t one, uint32_t other)
{
    if (2 * (index->count + 1) > index->slot_count && !grow(index))
        return NULL;
    MR_ASSERT(index->count < index->slot_count); /* else a search would not end */
    mr_pair_slot *slot = find(index, one, other);
    if (!slot->number) { /* room for it was made above */
        slot->one = one;
        slot->other = other;
        index->count++;
    }
    return slot;
}
