/* Addresses that are used again differ in the trace (src/record/addresses.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/addresses.h"

#include "trace/address_name.h"

enum { VARIABLE = 3 };

static const uint64_t start = UINT64_C(0x100000000000);

typedef struct memory {
    mr_addresses addresses;
    mr_lifetimes lives;
} memory;

static void give(memory *m, uint64_t bytes)
{
    assert_true(mr_lifetimes_take(&m->lives, start, bytes, false));
    assert_true(mr_lifetimes_give(&m->lives, start, bytes, 0, 0));
    assert_true(mr_addresses_begin(&m->addresses, mr_lifetimes_find(&m->lives, start)));
}

/* The value of an access in the trace. */
static int64_t name(memory *m, mr_op op, uint64_t value, bool as_left)
{
    mr_emitted event = {.op = op, .operand = VARIABLE, .has_value = true, .value = (int64_t)value};
    assert_true(mr_addresses_name(&m->addresses, &m->lives, &event, as_left));
    return event.value;
}

static void end(memory *m)
{
    mr_addresses_free(&m->addresses);
    mr_lifetimes_free(&m->lives);
}

static void test_blocks_differ(void **state)
{
    (void)state;
    memory m = {.addresses = {.use_count = 0}};
    mr_lifetimes_init(&m.lives);
    give(&m, 64);
    int64_t first = name(&m, MR_OP_WRITE, start + 8, false);
    assert_int_equal(first, start + 8);
    give(&m, 32);
    int64_t second = name(&m, MR_OP_WRITE, start + 8, false);
    assert_int_not_equal(first, second);
    assert_true(mr_address_is_same(first, second));
    /* what is left of the first block, memory behind it, and numbers */
    assert_int_equal(name(&m, MR_OP_WRITE, start + 32, false), start + 32);
    assert_int_equal(name(&m, MR_OP_WRITE, start + 64, false), start + 64);
    assert_int_equal(name(&m, MR_OP_WRITE, 7, false), 7);
    assert_int_equal(name(&m, MR_OP_WRITE, UINT64_MAX, false), -1);
    end(&m);
}

static void test_old_pointer(void **state)
{
    (void)state;
    memory m = {.addresses = {.use_count = 0}};
    mr_lifetimes_init(&m.lives);
    give(&m, 64);
    int64_t first = name(&m, MR_OP_WRITE, start, false);
    give(&m, 64);
    assert_int_equal(name(&m, MR_OP_READ, start, true), first);
    assert_int_equal(name(&m, MR_OP_ATOMIC_READ, start, true), first);
    /* nobody knows who wrote it */
    int64_t second = name(&m, MR_OP_READ, start, false);
    assert_int_not_equal(second, first);
    assert_int_equal(name(&m, MR_OP_READ, start, true), second);
    /* an access without a value */
    give(&m, 64);
    mr_emitted event = {.op = MR_OP_WRITE, .operand = VARIABLE};
    assert_true(mr_addresses_name(&m.addresses, &m.lives, &event, false));
    assert_int_not_equal(name(&m, MR_OP_READ, start, true), second);
    end(&m);
}

/* What code that nobody recorded writes is seen by reads only, and not again when it is the same. */
static void test_unseen_writer(void **state)
{
    (void)state;
    memory m = {.addresses = {.use_count = 0}};
    mr_lifetimes_init(&m.lives);
    assert_false(mr_addresses_are_seen(&m.addresses, VARIABLE));
    name(&m, MR_OP_READ, 0, false);
    assert_true(mr_addresses_are_seen(&m.addresses, VARIABLE));
    give(&m, 64);
    name(&m, MR_OP_WRITE, start, false);
    name(&m, MR_OP_READ, start, true);
    assert_true(mr_addresses_are_seen(&m.addresses, VARIABLE));
    name(&m, MR_OP_READ, 0, false);
    name(&m, MR_OP_WRITE, start, false);
    assert_false(mr_addresses_are_seen(&m.addresses, VARIABLE));
    mr_emitted event = {.op = MR_OP_WRITE, .operand = VARIABLE};
    assert_true(mr_addresses_name(&m.addresses, &m.lives, &event, false));
    assert_false(mr_addresses_are_seen(&m.addresses, VARIABLE));
    end(&m);
    /* also the first address */
    m = (memory){.addresses = {.use_count = 0}};
    mr_lifetimes_init(&m.lives);
    give(&m, 64);
    int64_t first = name(&m, MR_OP_READ, start, false);
    give(&m, 64);
    assert_int_equal(name(&m, MR_OP_READ, start, true), first);
    assert_false(mr_addresses_are_seen(&m.addresses, VARIABLE));
    end(&m);
}

static void test_update(void **state)
{
    (void)state;
    memory m = {.addresses = {.use_count = 0}};
    mr_lifetimes_init(&m.lives);
    give(&m, 64);
    int64_t first = name(&m, MR_OP_ATOMIC_WRITE, start, false);
    give(&m, 64);
    mr_emitted event = {.op = MR_OP_ATOMIC_UPDATE,
                        .operand = VARIABLE,
                        .has_value = true,
                        .value = (int64_t)start,
                        .written_value = (int64_t)start};
    assert_true(mr_addresses_name(&m.addresses, &m.lives, &event, true));
    assert_int_equal(event.value, first);
    assert_int_not_equal(event.written_value, first);
    assert_int_equal(name(&m, MR_OP_ATOMIC_READ, start, true), event.written_value);
    end(&m);
}

static void test_many_uses(void **state)
{
    (void)state;
    memory m = {.addresses = {.use_count = 0}};
    mr_lifetimes_init(&m.lives);
    for (uint32_t i = 0; i <= MR_ADDRESS_USES_MAX; i++) {
        give(&m, 64);
        int64_t value = name(&m, MR_OP_WRITE, start, false);
        assert_int_equal(mr_address_uses(value), i);
        assert_int_equal(mr_address_plain(value), start);
        assert_true(mr_address_is_likely(value));
    }
    give(&m, 64);
    assert_int_equal(name(&m, MR_OP_WRITE, start, false), start);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_differ), cmocka_unit_test(test_old_pointer),
        cmocka_unit_test(test_unseen_writer), cmocka_unit_test(test_update),
        cmocka_unit_test(test_many_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
