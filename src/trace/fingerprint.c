#include "fingerprint.h"

#include "base/assert.h"

#include <xxhash.h>

enum { OPS, THREADS, OPERANDS, LOCATIONS, VALUE_NUMBERS, VALUES, UPDATES, REACHES, ITEMS, COLUMNS };

_Static_assert((int)COLUMNS == (int)MR_FINGERPRINT_COLUMNS, "a state for each column");

bool mr_fingerprint_init(mr_fingerprint *print)
{
    bool made = true;
    *print = (mr_fingerprint){0};
    for (int i = 0; i < COLUMNS; i++) {
        print->columns[i] = mr_memory_fails() ? NULL : XXH3_createState();
        made = made && print->columns[i] && XXH3_64bits_reset(print->columns[i]) == XXH_OK;
    }
    return made;
}

void mr_fingerprint_free(mr_fingerprint *print)
{
    for (int i = 0; i < COLUMNS; i++)
        XXH3_freeState(print->columns[i]);
    *print = (mr_fingerprint){0};
}

mr_value_counts mr_value_counts_of(const mr_trace *trace)
{
    return (mr_value_counts){
        .values = trace->value_count ? trace->value_count - 1 : 0,
        .updates = trace->update_count ? trace->update_count - 1 : 0,
        .reaches = trace->reach_count ? trace->reach_count - 1 : 0,
        .items = trace->reach_items.count,
    };
}

static void add(mr_fingerprint *print, int column, const void *items, size_t count,
                size_t size_bytes)
{
    if (count)
        (void)XXH3_64bits_update(print->columns[column], items, count * size_bytes);
}

void mr_fingerprint_add(mr_fingerprint *print, const mr_events *events, const uint32_t *value,
                        const mr_trace *trace, const mr_value_counts *counts)
{
    size_t count = events->count;
    MR_REQUIRE(events->first == print->event_count);
    add(print, OPS, events->op, count, sizeof *events->op);
    add(print, THREADS, events->thread, count, sizeof *events->thread);
    add(print, OPERANDS, events->operand, count, sizeof *events->operand);
    add(print, LOCATIONS, events->location, count, sizeof *events->location);
    add(print, VALUE_NUMBERS, value, count, sizeof *value);
    if (counts->values > print->values)
        add(print, VALUES, trace->values + print->values + 1, counts->values - print->values,
            sizeof *trace->values);
    if (counts->updates > print->updates)
        add(print, UPDATES, trace->updates + print->updates + 1, counts->updates - print->updates,
            sizeof *trace->updates);
    if (counts->reaches > print->reaches)
        add(print, REACHES, trace->reaches + print->reaches + 1, counts->reaches - print->reaches,
            sizeof *trace->reaches);
    if (counts->items > print->items)
        add(print, ITEMS, trace->reach_items.items + print->items, counts->items - print->items,
            sizeof *trace->reach_items.items);
    print->event_count += count;
    print->values = counts->values;
    print->updates = counts->updates;
    print->reaches = counts->reaches;
    print->items = counts->items;
}

static uint64_t mix_names(uint64_t seed, const mr_names *names)
{
    seed = XXH3_64bits_withSeed(&names->count, sizeof names->count, seed);
    for (uint32_t i = 0; i < names->count; i++)
        seed = XXH3_64bits_withSeed(names->items[i].text, (size_t)names->items[i].length + 1, seed);
    return seed;
}

uint64_t mr_fingerprint_finish(const mr_fingerprint *print, const mr_trace *trace)
{
    uint64_t hashes[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        hashes[i] = XXH3_64bits_digest(print->columns[i]);
    uint64_t seed = XXH3_64bits_withSeed(hashes, sizeof hashes, print->event_count);
    const mr_names *const names[] = {&trace->threads,   &trace->variables, &trace->locks,
                                     &trace->locations, &trace->calls,     &trace->reach_names};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        seed = mix_names(seed, names[i]);
    return seed;
}
