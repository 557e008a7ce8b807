#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "place_pairs.h"

#include <stdlib.h>

static uint64_t place_of(const mr_trace *trace, uint32_t event)
{
    return strtoull(trace->locations.items[trace->location[event]].text, NULL, 16);
}

void mr_place_pairs_add(mr_pairs *pairs, const mr_trace *trace, uint32_t first, uint32_t second)
{
    uint64_t one = place_of(trace, first), other = place_of(trace, second);
    mr_pair pair = one < other ? (mr_pair){one, other} : (mr_pair){other, one};
    assert_int_not_equal(mr_pairs_add(pairs, pair), MR_PAIRS_NONE);
}

void mr_place_pairs_expect(const mr_pairs *found, const mr_pairs *expected, uint64_t seed,
                           const char *text)
{
    for (uint32_t i = 0; i < expected->count; i++)
        if (mr_pairs_find(found, expected->items[i]) == MR_PAIRS_NONE)
            fail_msg("seed %llu: %s the race of %llx and %llx", (unsigned long long)seed, text,
                     (unsigned long long)expected->items[i].high,
                     (unsigned long long)expected->items[i].low);
}
