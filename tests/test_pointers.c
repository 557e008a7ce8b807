/* Which reads give an address that their thread uses (record/pointers.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/pointers.h"
#include "runtime/log.h"

enum { BLOCK = 0x100000, BLOCK_BYTES = 0x3000, FAR_AWAY = 0x900000 };

static const mr_life block = {
    .start = BLOCK, .end = BLOCK + BLOCK_BYTES, .number = 7, .kind = MR_LOG_MEMORY_HEAP};
static const mr_life stack = {
    .start = BLOCK, .end = BLOCK + BLOCK_BYTES, .number = 8, .kind = MR_LOG_MEMORY_STACK};

static const mr_life everything = {.end = UINT64_MAX};

static void note(mr_pointers *all, uint32_t thread, uint32_t variable, uint64_t value,
                 const mr_life *life)
{
    const mr_pointer read = {.value = value, .code = 0x400000, .variable = variable};
    assert_true(mr_pointers_note(all, thread, &read, life));
}

/* The variable whose pointer the access uses, or MR_NONE. */
static uint32_t use(mr_pointers *all, uint32_t thread, uint64_t address)
{
    if (!mr_pointers_wait(all, thread) || !mr_pointers_look(all, thread, address))
        return MR_NONE;
    return mr_pointers_take(all, thread, address)->variable;
}

/* The variable whose pointer is freed, or MR_NONE. */
static uint32_t freed(mr_pointers *all, uint32_t thread, uint64_t address)
{
    const mr_pointer *pointer = mr_pointers_take_free(all, thread, address);
    return pointer ? pointer->variable : MR_NONE;
}

static void test_uses(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const mr_life *life;
        uint64_t address;
        bool is_use;
    } cases[] = {
        {BLOCK + 8, &block, BLOCK + 8, true},
        {BLOCK + 8, &block, BLOCK, true}, /* the same block */
        {BLOCK + 8, &block, BLOCK + BLOCK_BYTES - 1, true},
        {BLOCK + 8, &block, BLOCK - 1, false},
        {BLOCK + 8, &block, BLOCK + BLOCK_BYTES, false},
        {BLOCK + 8, &stack, BLOCK, false}, /* what a stack has together is no block */
        {BLOCK + 8, &stack, BLOCK + 8 + 7, true},
        {BLOCK + 8, &stack, BLOCK + 8 + 8, false},
        {FAR_AWAY, &everything, FAR_AWAY + 7, true}, /* static memory */
        {FAR_AWAY, &everything, FAR_AWAY + 8, false},
        {0, NULL, 0, false},
        {17, NULL, 17, false},
        {UINT64_MAX, NULL, UINT64_MAX, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_pointers all = {0};
        note(&all, 2, 5, cases[i].value, cases[i].life);
        assert_int_equal(use(&all, 2, cases[i].address), cases[i].is_use ? 5 : MR_NONE);
        mr_pointers_free(&all);
    }
}

/* Each read is used once; another thread's access is none. */
static void test_once(void **state)
{
    (void)state;
    mr_pointers all = {0};
    note(&all, 1, 5, BLOCK, &block);
    assert_int_equal(use(&all, 0, BLOCK), MR_NONE);
    assert_int_equal(use(&all, 1, BLOCK), 5);
    assert_int_equal(use(&all, 1, BLOCK), MR_NONE);
    assert_false(mr_pointers_wait(&all, 1));
    assert_int_equal(freed(&all, 1, BLOCK), 5);
    assert_int_equal(freed(&all, 1, BLOCK), MR_NONE);
    mr_pointers_free(&all);
}

/* A deref is about the last read of the variable. */
static void test_last_read(void **state)
{
    (void)state;
    mr_pointers all = {0};
    note(&all, 0, 5, BLOCK, &block);
    note(&all, 0, 5, 0, NULL);
    assert_int_equal(use(&all, 0, BLOCK), MR_NONE);
    assert_int_equal(freed(&all, 0, BLOCK), MR_NONE);
    note(&all, 0, 5, BLOCK, &block);
    note(&all, 0, 6, BLOCK + 8, &block); /* the later one of two */
    assert_int_equal(use(&all, 0, BLOCK), 6);
    assert_int_equal(use(&all, 0, BLOCK), 5);
    mr_pointers_free(&all);
}

static void test_patience(void **state)
{
    (void)state;
    mr_pointers all = {0};
    note(&all, 0, 5, BLOCK, &block);
    for (int i = 0; i < MR_POINTERS_PATIENCE; i++)
        assert_int_equal(use(&all, 0, FAR_AWAY), MR_NONE);
    assert_false(mr_pointers_wait(&all, 0));
    assert_int_equal(use(&all, 0, BLOCK), MR_NONE);
    assert_int_equal(freed(&all, 0, BLOCK), 5); /* it may still be freed */
    mr_pointers_free(&all);
}

/* The oldest pointer makes room. */
static void test_room(void **state)
{
    (void)state;
    mr_pointers all = {0};
    for (uint32_t x = 0; x <= MR_POINTERS_KEPT; x++)
        note(&all, 0, x, FAR_AWAY + x * 0x100000, &(mr_life){0});
    assert_int_equal(use(&all, 0, FAR_AWAY), MR_NONE);
    for (uint32_t x = 1; x <= MR_POINTERS_KEPT; x++)
        assert_int_equal(use(&all, 0, FAR_AWAY + x * 0x100000), x);
    assert_false(mr_pointers_wait(&all, 0));
    mr_pointers_free(&all);
}

/* A free of what a variable held that was null before tells nothing. */
static void test_null_before_a_free(void **state)
{
    (void)state;
    mr_pointers all = {0};
    assert_true(mr_pointers_note_null(&all, 5));
    note(&all, 0, 5, BLOCK, &block);
    note(&all, 0, 6, BLOCK + 64, &block);
    assert_int_equal(freed(&all, 0, BLOCK), MR_NONE);
    assert_int_equal(freed(&all, 0, BLOCK + 64), 6);
    mr_pointers_free(&all);
}

static void test_loose(void **state)
{
    (void)state;
    mr_pointers all = {0};
    const mr_emitted event = {.op = MR_OP_DEREF, .operand = 5};
    assert_null(mr_pointers_loose(&all, 3));
    note(&all, 3, 5, BLOCK, &block);
    mr_pointers_set_loose(&all, 3, &event);
    assert_int_equal(mr_pointers_loose(&all, 3)->operand, 5);
    assert_null(mr_pointers_loose(&all, 2));
    mr_pointers_drop_loose(&all, 3);
    assert_null(mr_pointers_loose(&all, 3));
    mr_pointers_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uses),      cmocka_unit_test(test_once),
        cmocka_unit_test(test_last_read), cmocka_unit_test(test_patience),
        cmocka_unit_test(test_room),      cmocka_unit_test(test_null_before_a_free),
        cmocka_unit_test(test_loose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
