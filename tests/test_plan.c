/* Where the windows of a trace begin and end: all small traces, sizes and overlaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "windows/plan.h"

static void check_plan(uint32_t count, uint32_t size, uint32_t overlap)
{
    mr_window_plan plan = {.event_count = count, .size = size, .overlap = overlap};
    uint32_t start, end, k = 0, last_start = 0, last_end = 0;
    for (; mr_window_plan_get(&plan, k, &start, &end); k++) {
        assert_true(start < end && end <= count);
        if (k == 0) {
            assert_int_equal(start, 0);
        } else { /* moves on, none inside another, overlap as asked for */
            assert_true(start > last_start && end > last_end);
            assert_int_equal(last_end - start, overlap);
        }
        if (size && end < count)
            assert_int_equal(end - start, size);
        last_start = start;
        last_end = end;
    }
    assert_int_equal(last_end, count); /* everything is covered: no gaps above, the end here */
    assert_int_equal(k > 0, count > 0);
    if (!size)
        assert_int_equal(k, count > 0);
    assert_false(mr_window_plan_get(&plan, k + 1, &start, &end));
}

/* mr_window_plan_joins beside a look at every window. */
static void check_joins(uint32_t count, uint32_t size, uint32_t overlap)
{
    mr_window_plan plan = {.event_count = count, .size = size, .overlap = overlap};
    for (uint32_t last = 0; last < count; last++) {
        for (uint32_t first = 0; first <= last; first++) {
            uint32_t start, end;
            bool joined = false;
            for (uint32_t k = 0; mr_window_plan_get(&plan, k, &start, &end); k++)
                joined |= start <= first && last < end;
            assert_int_equal(mr_window_plan_joins(&plan, first, last), joined);
        }
    }
}

static void test_joins(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= 16; count++) {
        check_joins(count, 0, 0);
        for (uint32_t size = 1; size <= 18; size++)
            for (uint32_t overlap = 0; overlap < size; overlap++)
                check_joins(count, size, overlap);
    }
}

static void test_plan(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= 24; count++) {
        check_plan(count, 0, 0);
        check_plan(count, 0, 7); /* no windows, whatever the overlap */
        for (uint32_t size = 1; size <= 26; size++)
            for (uint32_t overlap = 0; overlap < size; overlap++)
                check_plan(count, size, overlap);
    }
    check_plan(1000000, 4294967293u, 4294967292u);
    mr_window_plan huge = {.event_count = UINT32_MAX - 2, .size = 10, .overlap = 9};
    uint32_t start, end;
    assert_true(mr_window_plan_get(&huge, UINT32_MAX - 12, &start, &end));
    assert_int_equal(start, UINT32_MAX - 12);
    assert_int_equal(end, UINT32_MAX - 2);
    assert_false(mr_window_plan_get(&huge, UINT32_MAX - 11, &start, &end));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_joins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
