/* huge: blocks that grow and shrink keep what is in them, in the heap and mapped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/huge.h"
#include "base/memory.h"

#include <string.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

static uint32_t word_of(size_t at)
{
    return (uint32_t)at * 2654435761u + 1;
}

static void fill(uint32_t *words, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        words[i] = word_of(i);
}

static void check(const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(words[i], word_of(i));
}

/* Across the sizes from which blocks are mapped and have large pages, up and down. */
static void test_resize(void **state)
{
    (void)state;
    static const size_t sizes[] = {16,          900 * KIB, MIB - 4,  MIB,         2 * MIB,
                                   2 * MIB + 4, 5 * MIB,   9 * MIB,  6 * MIB + 8, 3 * MIB,
                                   MIB + 4,     600 * KIB, 12 * MIB, 64};
    uint32_t *words = NULL, *between = NULL;
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t *resized = mr_huge_resize(words, bytes, sizes[i]);
        assert_non_null(resized);
        words = resized;
        check(words, (bytes < sizes[i] ? bytes : sizes[i]) / sizeof *words);
        fill(words, bytes / sizeof *words, sizes[i] / sizeof *words);
        bytes = sizes[i];
        /* Something else may lie behind the block, so that it cannot grow where it is. */
        mr_huge_free(between, 2 * MIB);
        between = mr_huge_new(2 * MIB);
        assert_non_null(between);
        memset(between, 0xFF, 2 * MIB);
    }
    check(words, bytes / sizeof *words);
    mr_huge_free(between, 2 * MIB);
    mr_huge_free(words, bytes);
}

static void test_grow(void **state)
{
    (void)state;
    void *array = NULL;
    size_t capacity = 0, count = 0;
    while (count < 3 * MIB) {
        assert_true(mr_huge_grow(&array, &capacity, count + 1, sizeof(uint32_t)));
        assert_true(capacity > count);
        fill(array, count, capacity);
        count = capacity;
    }
    check(array, count);
    mr_huge_free(array, capacity * sizeof(uint32_t));
}

/* Nothing changes then. */
static void test_no_memory(void **state)
{
    (void)state;
    static const size_t sizes[] = {64, 2 * MIB, 5 * MIB, 9 * MIB};
    for (size_t i = 0; i + 1 < sizeof sizes / sizeof *sizes; i++) {
        uint32_t *words = mr_huge_resize(NULL, 0, sizes[i]);
        assert_non_null(words);
        fill(words, 0, sizes[i] / sizeof *words);
        void *array = words;
        size_t capacity = sizes[i] / sizeof *words;
        mr_memory_fail_after(1);
        assert_null(mr_huge_resize(words, sizes[i], sizes[i + 1]));
        assert_false(mr_huge_grow(&array, &capacity, capacity + 1, sizeof *words));
        mr_memory_fail_after(0);
        assert_ptr_equal(array, words);
        assert_int_equal(capacity, sizes[i] / sizeof *words);
        check(words, capacity);
        mr_huge_free(words, sizes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
