#include "ledger.h"

#include <stdlib.h>

void mr_ledger_free(mr_ledger *ledger)
{
    free(ledger->slots);
    *ledger = (mr_ledger){0};
}

/* The slot of the pair, or the free one where it would stand. */
static size_t slot_of(const mr_ledger_entry *slots, size_t slot_count, uint32_t key_1,
                      uint32_t key_2)
{
    uint64_t hash = ((uint64_t)key_1 << 32 | key_2) * 0x9e3779b97f4a7c15u;
    size_t slot = (size_t)(hash >> 20) & (slot_count - 1);
    while (slots[slot].used && (slots[slot].key_1 != key_1 || slots[slot].key_2 != key_2))
        slot = (slot + 1) & (slot_count - 1);
    return slot;
}

const mr_ledger_entry *mr_ledger_find(const mr_ledger *ledger, uint32_t key_1, uint32_t key_2)
{
    if (!ledger->slot_count)
        return NULL;
    const mr_ledger_entry *entry =
        &ledger->slots[slot_of(ledger->slots, ledger->slot_count, key_1, key_2)];
    return entry->used ? entry : NULL;
}

static bool grow(mr_ledger *ledger)
{
    size_t slot_count = ledger->slot_count ? ledger->slot_count * 2 : 64;
    mr_ledger_entry *slots = mr_calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < ledger->slot_count; i++) {
        const mr_ledger_entry *entry = &ledger->slots[i];
        if (entry->used)
            slots[slot_of(slots, slot_count, entry->key_1, entry->key_2)] = *entry;
    }
    free(ledger->slots);
    ledger->slots = slots;
    ledger->slot_count = slot_count;
    return true;
}

mr_ledger_entry *mr_ledger_get(mr_ledger *ledger, uint32_t key_1, uint32_t key_2)
{
    if (2 * (ledger->count + 1) > ledger->slot_count && !grow(ledger))
        return NULL;
    mr_ledger_entry *entry =
        &ledger->slots[slot_of(ledger->slots, ledger->slot_count, key_1, key_2)];
    if (!entry->used) {
        *entry = (mr_ledger_entry){.key_1 = key_1, .key_2 = key_2, .used = true};
        ledger->count++;
    }
    return entry;
}

const mr_ledger_entry *mr_ledger_find_static(const mr_ledger *ledger, const mr_trace *trace,
                                             uint32_t first, uint32_t second)
{
    uint32_t one = trace->location[first], two = trace->location[second];
    return mr_ledger_find(ledger, one < two ? one : two, one < two ? two : one);
}

mr_ledger_entry *mr_ledger_get_static(mr_ledger *ledger, const mr_trace *trace, uint32_t first,
                                      uint32_t second)
{
    uint32_t one = trace->location[first], two = trace->location[second];
    return mr_ledger_get(ledger, one < two ? one : two, one < two ? two : one);
}
