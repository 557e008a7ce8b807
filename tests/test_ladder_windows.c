/* ladder_windows: the generated windows are valid, exactly as long as asked, repeatable, have the
 * values that were asked for, and what their families are named after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/trace_reading.h"

#include "bench/ladder_windows.h"

#include <stdlib.h>
#include <string.h>

static mr_trace *generate(mr_ladder_family family, uint32_t values, uint32_t events, uint64_t seed)
{
    size_t length;
    char *text = mr_ladder_window(family, values, events, seed, &length);
    assert_non_null(text);
    assert_int_equal(strlen(text), length);
    mr_trace *trace = mr_test_read(text, false); /* refuses what is not valid */
    free(text);
    return trace;
}

static void test_valid_with_these_values(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 8, 2}, sizes[] = {1, 100, 2500};
    for (mr_ladder_family family = 0; family < MR_LADDER_FAMILIES; family++)
        for (size_t v = 0; v < 3; v++)
            for (size_t s = 0; s < 3; s++) {
                mr_trace *trace = generate(family, values[v], sizes[s], 3 + v);
                assert_int_equal(trace->event_count, sizes[s]);
                assert_int_equal(trace->by_source_count, 0); /* reads see the last write */
                if (values[v] > 0)
                    assert_true(trace->value_count <= values[v] + 1);
                else if (sizes[s] == 2500)
                    assert_true(trace->value_count > 50);
                mr_trace_free(trace);
            }
}

/* The deepest nesting of sections. */
static uint32_t depth_of(const mr_trace *trace)
{
    uint32_t *depths = calloc(trace->threads.count, sizeof *depths), deepest = 0;
    assert_non_null(depths);
    for (uint32_t e = 0; e < trace->event_count; e++) {
        uint32_t *depth = &depths[trace->thread[e]];
        *depth += trace->op[e] == MR_OP_ACQUIRE;
        *depth -= trace->op[e] == MR_OP_RELEASE;
        deepest = *depth > deepest ? *depth : deepest;
    }
    free(depths);
    return deepest;
}

static void test_families(void **state)
{
    (void)state;
    static const struct {
        mr_ladder_family family;
        uint32_t locks, depth;
    } rows[] = {{MR_LADDER_LOCKS, 16, 1},
                {MR_LADDER_HOT_LOCK, 1, 1},
                {MR_LADDER_FLAGS, 0, 0},
                {MR_LADDER_READERS, 8, 1},
                {MR_LADDER_NESTED, 12, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_trace *trace = generate(rows[i].family, 8, 5000, 11);
        uint64_t reads = trace->op_counts[MR_OP_READ], writes = trace->op_counts[MR_OP_WRITE];
        assert_int_equal(trace->threads.count, 8);
        assert_int_equal(trace->locks.count, rows[i].locks);
        assert_int_equal(depth_of(trace), rows[i].depth);
        assert_true(writes > 0);
        if (rows[i].family == MR_LADDER_READERS)
            assert_true(reads > 10 * writes);
        mr_trace_free(trace);
    }
}

static void test_same_seed_same_window(void **state)
{
    (void)state;
    for (mr_ladder_family family = 0; family < MR_LADDER_FAMILIES; family++) {
        size_t length[3];
        char *text[3];
        for (int i = 0; i < 3; i++)
            text[i] = mr_ladder_window(family, 2, 1000, i == 2 ? 6 : 5, &length[i]);
        assert_string_equal(text[0], text[1]);
        assert_string_not_equal(text[0], text[2]);
        for (int i = 0; i < 3; i++)
            free(text[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_with_these_values),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_same_seed_same_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
