#include "table.h"

#include "memory.h"

#include <stdlib.h>

const char mr_table_anchor = 0;

enum { MR_TABLE_MIN_SLOTS = 16 };

/* A power of two that `count` items fill at most half; 0: too many. */
static uint32_t slots_for(uint32_t count)
{
    uint32_t slot_count = MR_TABLE_MIN_SLOTS;
    while (slot_count / 2 < count && slot_count)
        slot_count *= 2;
    return slot_count;
}

/* Slots are fetched some items ahead: in a large table each of them is a miss of the cache. */
static void enter_all(const mr_table *table, mr_table_hash *hash, const void *items, uint32_t count)
{
    enum { AHEAD = 16 };
    uint32_t mask = table->slot_count - 1;
    for (uint32_t number = 0; number < count; number++) {
        if (number + AHEAD < count)
            mr_table_fetch(table, hash(items, number + AHEAD));
        uint32_t at = hash(items, number) & mask;
        while (table->slots[at])
            at = (at + 1) & mask;
        table->slots[at] = number + 1;
    }
}

bool mr_table_grow(mr_table *table, uint32_t count, mr_table_hash *hash, const void *items,
                   uint32_t entered)
{
    MR_REQUIRE(entered <= count);
    mr_table larger = {.slot_count = slots_for(count)};
    if (!larger.slot_count)
        return false;
    larger.slots = mr_calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    enter_all(&larger, hash, items, entered);
    free(table->slots);
    *table = larger;
    return true;
}

bool mr_table_in_arena(mr_table *table, mr_arena *arena, uint32_t count)
{
    table->slot_count = slots_for(count);
    table->slots = mr_arena_zalloc(arena, table->slot_count, sizeof *table->slots);
    return table->slot_count && table->slots;
}

void mr_table_free(mr_table *table)
{
    free(table->slots);
    *table = (mr_table){0};
}
