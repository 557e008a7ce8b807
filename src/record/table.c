#include "table.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>

static size_t first_slot(const mr_table *table, mr_pair pair)
{
    uint64_t hash = pair.high * 0x9E3779B97F4A7C15u ^ pair.low * 0xC2B2AE3D27D4EB4Fu;
    hash ^= hash >> 32;
    return (size_t)((hash * 0x165667B19E3779F9u) >> 24) & (table->slot_count - 1);
}

/* The slot of the pair, or the free slot where it belongs. */
static uint32_t *slot_of(const mr_table *table, mr_pair pair)
{
    size_t at = first_slot(table, pair);
    for (; table->slots[at]; at = (at + 1) & (table->slot_count - 1)) {
        const mr_pair *other = &table->items[table->slots[at] - 1];
        if (other->high == pair.high && other->low == pair.low)
            break;
    }
    return &table->slots[at];
}

static bool grow(mr_table *table)
{
    size_t count = table->slot_count ? 2 * table->slot_count : 256;
    uint32_t *slots = mr_calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(table->slots);
    table->slots = slots;
    table->slot_count = count;
    for (uint32_t i = 0; i < table->count; i++)
        *slot_of(table, table->items[i]) = i + 1;
    return true;
}

uint32_t mr_table_add(mr_table *table, mr_pair pair)
{
    if (2 * (size_t)table->count >= table->slot_count && !grow(table))
        return MR_TABLE_NONE;
    uint32_t *slot = slot_of(table, pair);
    if (*slot)
        return *slot - 1;
    void *items = table->items;
    if (table->count >= MR_TABLE_NONE - 1 ||
        !mr_grow(&items, &table->capacity, (size_t)table->count + 1, sizeof pair))
        return MR_TABLE_NONE;
    table->items = items;
    table->items[table->count++] = pair;
    MR_ASSERT(table->count < table->slot_count); /* a free slot ends each search */
    *slot = table->count;
    return table->count - 1;
}

uint32_t mr_table_find(const mr_table *table, mr_pair pair)
{
    uint32_t found = table->slot_count ? *slot_of(table, pair) : 0;
    return found ? found - 1 : MR_TABLE_NONE;
}

void mr_table_free(mr_table *table)
{
    free(table->items);
    free(table->slots);
    *table = (mr_table){0};
}
