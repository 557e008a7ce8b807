#include "ledger.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct pair {
    uint32_t key_1, key_2;
} pair;

void mr_ledger_free(mr_ledger *ledger)
{
    free(ledger->entries);
    mr_table_free(&ledger->table);
    *ledger = (mr_ledger){0};
}

static uint32_t hash_pair(uint32_t key_1, uint32_t key_2)
{
    return mr_table_hash_u64((uint64_t)key_1 << 32 | key_2);
}

static uint32_t hash_of(const void *entries, uint32_t number)
{
    const mr_ledger_entry *entry = (const mr_ledger_entry *)entries + number;
    return hash_pair(entry->key_1, entry->key_2);
}

static bool same(const void *entries, uint32_t number, const void *key)
{
    const mr_ledger_entry *entry = (const mr_ledger_entry *)entries + number;
    const pair *wanted = key;
    return entry->key_1 == wanted->key_1 && entry->key_2 == wanted->key_2;
}

static uint32_t *slot_of(const mr_ledger *ledger, uint32_t key_1, uint32_t key_2)
{
    const pair wanted = {key_1, key_2};
    return mr_table_slot(&ledger->table, hash_pair(key_1, key_2), same, ledger->entries, &wanted);
}

const mr_ledger_entry *mr_ledger_find(const mr_ledger *ledger, uint32_t key_1, uint32_t key_2)
{
    uint32_t found = ledger->count ? *slot_of(ledger, key_1, key_2) : 0;
    return found ? &ledger->entries[found - 1] : NULL;
}

mr_ledger_entry *mr_ledger_get(mr_ledger *ledger, uint32_t key_1, uint32_t key_2)
{
    if (!mr_table_reserve(&ledger->table, ledger->count + 1, hash_of, ledger->entries,
                          ledger->count))
        return NULL;
    uint32_t *slot = slot_of(ledger, key_1, key_2);
    if (!*slot) {
        void *entries = ledger->entries;
        if (!mr_grow(&entries, &ledger->capacity, (size_t)ledger->count + 1,
                     sizeof *ledger->entries))
            return NULL;
        ledger->entries = entries;
        ledger->entries[ledger->count] = (mr_ledger_entry){.key_1 = key_1, .key_2 = key_2};
        *slot = ++ledger->count;
    }
    return &ledger->entries[*slot - 1];
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

bool mr_ledger_list_open(const mr_ledger *ledger, const mr_trace *trace, mr_wanted *open)
{
    open->all_but = true;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const mr_ledger_entry *entry = &ledger->entries[i];
        if (entry->race && !mr_wanted_add(open, trace->locations.count, entry->key_1, entry->key_2))
            return false;
    }
    return true;
}
