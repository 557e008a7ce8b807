#include "choose.h"

#include <stdlib.h>

static void choose_name(const mr_trace *trace, const char *name, size_t length, bool *chosen)
{
    uint32_t number;
    if (length > 0 && length <= UINT32_MAX &&
        mr_names_find(&trace->locations, name, (uint32_t)length, &number))
        chosen[number] = true;
}

void mr_choose_named(const mr_trace *trace, const char *text, size_t length_bytes, bool *chosen)
{
    const char *end = text + length_bytes;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const char *next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        if (stop > text && stop[-1] == '\r')
            stop--;
        choose_name(trace, text, (size_t)(stop - text), chosen);
        text = next;
    }
}

/* A step of SplitMix64: a permutation of the 64-bit numbers that looks random. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

bool mr_choose_random(const mr_trace *trace, uint32_t count, uint64_t seed, bool *chosen)
{
    uint32_t left = trace->locations.count;
    uint32_t *order = mr_calloc((size_t)left + 1, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < left; i++)
        order[i] = i;
    for (; count > 0 && left > 0; count--, left--) {
        uint32_t pick = (uint32_t)(next_random(&seed) % left);
        chosen[order[pick]] = true;
        order[pick] = order[left - 1];
    }
    free(order);
    return true;
}
