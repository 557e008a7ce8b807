/* The orders against their definitions, on random traces and every pair of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "order/order.h"
#include "order/shb.h"
#include "support/order_reference.h"
#include "support/walk.h"

enum { TRACES = 4000 };

static char walk_text[MR_REFERENCE_EVENTS * MR_WALK_LINE_BYTES + 1];

static mr_trace *read_text(const char *text)
{
    mr_trace *trace = NULL;
    mr_error error = {0};
    mr_read_options options = {0};
    if (mr_trace_read_text("test", text, strlen(text), &options, &trace, &error) != MR_OK)
        fail_msg("%s: line %d: %s\n%s", error.file, (int)error.line, error.text, text);
    return trace;
}

/* Short ones and long ones. */
static mr_trace *random_trace(uint64_t seed)
{
    mr_random random = {seed};
    uint32_t events = mr_random_range(&random, 6, MR_REFERENCE_EVENTS);
    mr_walk(mr_random_next(&random), events, walk_text);
    return read_text(walk_text);
}

static void slide(mr_order *order, uint32_t start, uint32_t end)
{
    mr_error error = {0};
    if (mr_order_slide(order, start, end, &error) != MR_OK)
        fail_msg("%s", error.text);
}

static void check_pairs(const mr_order *order, const mr_order_matrix *expected, uint32_t start,
                        uint32_t end, const char *what, uint64_t seed)
{
    for (uint32_t a = start; a < end; a++)
        for (uint32_t b = a + 1; b < end; b++)
            if (mr_order_ordered(order, a, b) != mr_order_matrix_has(expected, a, b))
                fail_msg("%s, seed %d: events %u and %u: expected %s\n%s", what, (int)seed, a, b,
                         mr_order_matrix_has(expected, a, b) ? "ordered" : "unordered", walk_text);
}

static void check_relation(const mr_trace *trace, mr_relation relation,
                           const mr_order_matrix *expected, const char *what, uint64_t seed)
{
    mr_order *order = mr_order_new(trace, relation);
    assert_non_null(order);
    slide(order, 0, trace->event_count);
    check_pairs(order, expected, 0, trace->event_count, what, seed);
    mr_order_free(order);

    /* Many windows: overlapping, touching, with gaps, empty. */
    mr_random random = {seed};
    order = mr_order_new(trace, relation);
    assert_non_null(order);
    for (uint32_t start = 0, end = 0; end < trace->event_count;) {
        end += mr_random_below(&random, 9);
        if (end > trace->event_count)
            end = trace->event_count;
        start += mr_random_below(&random, 9);
        if (start > end)
            start = end;
        slide(order, start, end);
        check_pairs(order, expected, start, end, what, seed);
    }
    mr_order_free(order);
}

static void test_orders_follow_definitions(void **state)
{
    (void)state;
    uint32_t ordered_by_hb_only = 0, ordered_by_wcp_across = 0;
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        mr_trace *trace = random_trace(seed);
        mr_order_reference reference;
        mr_order_reference_build(&reference, trace);
        check_relation(trace, MR_RELATION_HB, &reference.hb, "hb", seed);
        check_relation(trace, MR_RELATION_WCP, &reference.wcp, "wcp", seed);
        for (uint32_t e = 0; e < trace->event_count; e++) {
            assert_true((reference.wcp.rows[e] & ~reference.hb.rows[e]) == 0);
            ordered_by_hb_only += (reference.hb.rows[e] & ~reference.wcp.rows[e]) != 0;
            ordered_by_wcp_across += (reference.wcp.rows[e] & ~reference.hard.rows[e]) != 0;
        }
        mr_trace_free(trace);
    }
    /* The traces are of use only when the orders differ on them. */
    assert_true(ordered_by_hb_only > TRACES && ordered_by_wcp_across > TRACES);
}

static bool same_locations(const mr_trace *trace, uint32_t a, uint32_t b, mr_shb_race race)
{
    uint32_t c = trace->location[race.first], d = trace->location[race.second];
    a = trace->location[a], b = trace->location[b];
    return (a == c && b == d) || (a == d && b == c);
}

/* The first pair of these locations in the order of `second`, the latest `first` among equals: is
 * it reported? */
static void check_static_race(const mr_order_reference *reference, const mr_shb_races *races,
                              uint32_t first, uint32_t second, uint64_t seed)
{
    uint32_t found = 0;
    for (size_t i = 0; i < races->count; i++) {
        mr_shb_race race = races->items[i];
        if (!same_locations(reference->trace, first, second, race))
            continue;
        found++;
        if (race.second > second || (race.second == second && race.first < first))
            fail_msg("seed %d: race %u %u, but %u %u was reported for its locations\n%s", (int)seed,
                     first, second, race.first, race.second, walk_text);
    }
    if (found != 1)
        fail_msg("seed %d: race %u %u: its locations were reported %u times\n%s", (int)seed, first,
                 second, found, walk_text);
}

static void check_races(const mr_order_reference *reference, const mr_shb_races *races,
                        uint64_t seed)
{
    for (size_t i = 0; i < races->count; i++) {
        mr_shb_race race = races->items[i];
        assert_true(race.first < race.second);
        if (!mr_reference_shb_race(reference, race.first, race.second))
            fail_msg("seed %d: %u %u is no race\n%s", (int)seed, race.first, race.second,
                     walk_text);
        assert_true(i == 0 || races->items[i - 1].second <= race.second);
    }
    for (uint32_t b = 0; b < reference->trace->event_count; b++)
        for (uint32_t a = 0; a < b; a++)
            if (mr_reference_shb_race(reference, a, b))
                check_static_race(reference, races, a, b, seed);
}

static void test_shb_races_follow_definition(void **state)
{
    (void)state;
    size_t count = 0;
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        mr_trace *trace = random_trace(seed);
        mr_order_reference reference;
        mr_order_reference_build(&reference, trace);
        mr_shb_races races = {0};
        assert_int_equal(mr_shb_find(trace, &races, NULL), MR_OK);
        check_races(&reference, &races, seed);
        count += races.count;
        mr_shb_races_free(&races);
        mr_trace_free(trace);
    }
    assert_true(count > TRACES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_follow_definitions),
        cmocka_unit_test(test_shb_races_follow_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
