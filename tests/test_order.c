/* The orders against their definitions, on random traces and every pair of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "order/order.h"
#include "order/shb.h"
#include "support/order_reference.h"
#include "support/walk.h"

enum { TRACES = 4000, HOT_TRACES = 200, LONG_EVENTS = 400 };

static char walk_text[LONG_EVENTS * MR_WALK_LINE_BYTES + 1];

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

/* Is `first`, `second` an SHB race? Some way to tell. */
typedef bool race_test(const void *definition, uint32_t first, uint32_t second);

typedef struct expected_races {
    const mr_trace *trace;
    race_test *is_race;
    const void *definition;
    uint64_t seed;
} expected_races;

static bool small_race(const void *definition, uint32_t first, uint32_t second)
{
    return mr_reference_shb_race(definition, first, second);
}

static size_t find_pair(const mr_trace *trace, const mr_shb_races *races, uint32_t a, uint32_t b)
{
    uint32_t location_a = trace->location[a], location_b = trace->location[b];
    for (size_t i = 0; i < races->count; i++) {
        uint32_t c = trace->location[races->items[i].first];
        uint32_t d = trace->location[races->items[i].second];
        if ((location_a == c && location_b == d) || (location_a == d && location_b == c))
            return i;
    }
    return SIZE_MAX;
}

/* Each static race is reported once, by its pair with the smallest `second`, then the latest
 * `first`. */
static void check_races(const expected_races *expected, const mr_shb_races *races)
{
    const mr_trace *trace = expected->trace;
    size_t found_count = 0;
    bool *found = calloc(races->count + 1, sizeof *found);
    assert_non_null(found);
    for (uint32_t b = 0; b < trace->event_count; b++)
        for (uint32_t a = b; a-- > 0;) {
            if (!expected->is_race(expected->definition, a, b))
                continue;
            size_t i = find_pair(trace, races, a, b);
            if (i == SIZE_MAX)
                fail_msg("seed %d: race %u %u is not reported\n%s", (int)expected->seed, a, b,
                         walk_text);
            if (found[i])
                continue;
            found[i] = true;
            found_count++;
            if (races->items[i].first != a || races->items[i].second != b)
                fail_msg("seed %d: race %u %u is reported as %u %u\n%s", (int)expected->seed, a, b,
                         races->items[i].first, races->items[i].second, walk_text);
        }
    free(found);
    if (found_count != races->count)
        fail_msg("seed %d: %d races too many\n%s", (int)expected->seed,
                 (int)(races->count - found_count), walk_text);
    for (size_t i = 1; i < races->count; i++)
        assert_true(races->items[i - 1].second <= races->items[i].second);
}

static void test_shb_races_follow_definition(void **state)
{
    (void)state;
    size_t count = 0;
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        mr_trace *trace = random_trace(seed);
        mr_order_reference reference;
        mr_order_reference_build(&reference, trace);
        expected_races expected = {trace, small_race, &reference, seed};
        mr_shb_races races = {0};
        assert_int_equal(mr_shb_find(trace, &races, NULL), MR_OK);
        check_races(&expected, &races);
        count += races.count;
        mr_shb_races_free(&races);
        mr_trace_free(trace);
    }
    assert_true(count > TRACES);
}

/* SHB on longer traces: before[b][a] says that a is before b or is b. */
typedef struct long_shb {
    const mr_trace *trace;
    bool before[LONG_EVENTS][LONG_EVENTS];
} long_shb;

static void add_before(long_shb *shb, uint32_t a, uint32_t b)
{
    if (!shb->before[b][a])
        for (uint32_t e = 0; e <= a; e++)
            shb->before[b][e] |= shb->before[a][e];
}

/* The direct edges into b from all earlier events; what is before those is known already. */
static void build_long_shb(long_shb *shb, const mr_trace *trace)
{
    memset(shb, 0, sizeof *shb);
    shb->trace = trace;
    for (uint32_t b = 0; b < trace->event_count; b++) {
        uint32_t thread = trace->thread[b], operand = trace->operand[b];
        shb->before[b][b] = true;
        for (uint32_t a = b; a-- > 0;) {
            bool edge = trace->thread[a] == thread ||
                        (trace->op[a] == MR_OP_FORK && trace->operand[a] == thread) ||
                        (trace->op[b] == MR_OP_JOIN &&
                         (trace->thread[a] == operand ||
                          (trace->op[a] == MR_OP_FORK && trace->operand[a] == operand))) ||
                        (trace->op[b] == MR_OP_ACQUIRE && trace->link[b] != MR_NESTED &&
                         trace->op[a] == MR_OP_RELEASE && trace->link[a] != MR_NESTED &&
                         trace->operand[a] == operand);
            if (edge)
                add_before(shb, a, b);
        }
        if (trace->op[b] == MR_OP_READ && trace->link[b] != MR_NONE)
            add_before(shb, trace->link[b], b);
    }
}

static bool long_race(const void *definition, uint32_t first, uint32_t second)
{
    const long_shb *shb = definition;
    const mr_trace *trace = shb->trace;
    if (!mr_reference_conflict(trace, first, second))
        return false;
    for (uint32_t e = second; e-- > 0;)
        if (trace->thread[e] == trace->thread[second] ||
            (trace->op[e] == MR_OP_FORK && trace->operand[e] == trace->thread[second]))
            return !shb->before[e][first];
    return true;
}

static void test_shb_races_of_hot_variables(void **state)
{
    (void)state;
    long_shb *shb = malloc(sizeof *shb);
    assert_non_null(shb);
    for (uint64_t seed = 0; seed < HOT_TRACES; seed++) {
        mr_walk_hot(seed, LONG_EVENTS, walk_text);
        mr_trace *trace = read_text(walk_text);
        build_long_shb(shb, trace);
        expected_races expected = {trace, long_race, shb, seed};
        mr_shb_races races = {0};
        assert_int_equal(mr_shb_find(trace, &races, NULL), MR_OK);
        check_races(&expected, &races);
        mr_shb_races_free(&races);
        mr_trace_free(trace);
    }
    free(shb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_follow_definitions),
        cmocka_unit_test(test_shb_races_follow_definition),
        cmocka_unit_test(test_shb_races_of_hot_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
