#include "fingerprint.h"

#include <xxhash.h>

/* Each part with the hash of what was before it as its seed. */
static void add(uint64_t *hash, const void *items, size_t count, size_t size_bytes)
{
    *hash = XXH3_64bits_withSeed(&count, sizeof count, *hash);
    if (items && count)
        *hash = XXH3_64bits_withSeed(items, count * size_bytes, *hash);
}

static void add_names(uint64_t *hash, const mr_names *names)
{
    add(hash, NULL, names->count, 1);
    for (uint32_t i = 0; i < names->count; i++)
        add(hash, names->items[i].text, names->items[i].length, 1);
}

uint64_t mr_trace_fingerprint(const mr_trace *trace)
{
    const mr_names *names[] = {&trace->threads,   &trace->variables, &trace->locks,
                               &trace->locations, &trace->calls,     &trace->reach_names,
                               &trace->frames};
    uint64_t hash = 0;
    size_t events = trace->event_count;
    add(&hash, trace->op, events, sizeof *trace->op);
    add(&hash, trace->thread, events, sizeof *trace->thread);
    add(&hash, trace->operand, events, sizeof *trace->operand);
    add(&hash, trace->location, events, sizeof *trace->location);
    add(&hash, trace->value, events, sizeof *trace->value);
    add(&hash, trace->link, events, sizeof *trace->link);
    add(&hash, trace->stack, trace->stack ? events : 0, sizeof *trace->stack);
    add(&hash, trace->values, trace->value_count, sizeof *trace->values);
    add(&hash, trace->updates, trace->update_count, sizeof *trace->updates);
    add(&hash, trace->reaches, trace->reach_count, sizeof *trace->reaches);
    add(&hash, trace->reach_items.items, trace->reach_items.count, sizeof(uint32_t));
    add(&hash, trace->stacks, trace->stack_count, sizeof *trace->stacks);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add_names(&hash, names[i]);
    return hash;
}
