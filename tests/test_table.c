/* base: the hash table, and what stands on it: keys, map, record/pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/keys.h"
#include "base/map.h"
#include "base/memory.h"
#include "record/pairs.h"

enum { MANY = 20000 };

/* Items are their own keys; one hash in `spread` is used, so that 1 makes all of them collide. */
typedef struct numbers {
    uint32_t items[300];
    uint32_t count, spread;
} numbers;

static bool same(const void *items, uint32_t number, const void *key)
{
    return ((const numbers *)items)->items[number] == *(const uint32_t *)key;
}

static uint32_t hash_value(const numbers *all, uint32_t value)
{
    return UINT32_MAX - value % all->spread; /* searches run over the end of the slots */
}

static uint32_t hash_of(const void *items, uint32_t number)
{
    const numbers *all = items;
    return hash_value(all, all->items[number]);
}

static uint32_t *slot_of(const mr_table *table, const numbers *all, uint32_t value)
{
    return mr_table_slot(table, hash_value(all, value), same, all, &value);
}

static void check_all(const mr_table *table, const numbers *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        assert_int_equal(*slot_of(table, all, all->items[i]), i + 1);
    assert_int_equal(*slot_of(table, all, 1000003), 0);
}

static void test_collisions(void **state)
{
    (void)state;
    for (uint32_t spread = 1; spread < 1000; spread = spread * 3 + 1) {
        numbers all = {.spread = spread};
        mr_table table = {0};
        while (all.count < 300) {
            uint32_t value = all.count * 7919 % 1009;
            assert_true(mr_table_reserve(&table, all.count + 1, hash_of, &all, all.count));
            assert_true(2 * (all.count + 1) <= table.slot_count);
            uint32_t *slot = slot_of(&table, &all, value);
            assert_int_equal(*slot, 0);
            all.items[all.count++] = value;
            *slot = all.count;
        }
        check_all(&table, &all);
        mr_table_free(&table);
        assert_int_equal(table.slot_count, 0);
    }
}

static void test_grow_at_once(void **state)
{
    (void)state;
    numbers all = {.spread = 50};
    mr_table table = {0};
    for (all.count = 0; all.count < 100; all.count++)
        all.items[all.count] = all.count;
    assert_true(mr_table_reserve(&table, 100, hash_of, &all, 100)); /* enters all of them */
    assert_int_equal(table.slot_count, 256);
    check_all(&table, &all);
    uint32_t *slots = table.slots;
    assert_true(mr_table_reserve(&table, 128, hash_of, &all, 100));
    assert_ptr_equal(table.slots, slots);
    mr_memory_fail_after(1);
    assert_false(mr_table_reserve(&table, 129, hash_of, &all, 100));
    mr_memory_fail_after(0);
    check_all(&table, &all);
    assert_false(mr_table_reserve(&table, UINT32_MAX, hash_of, &all, 100)); /* too many */
    check_all(&table, &all);
    mr_table_free(&table);
}

static void test_in_arena(void **state)
{
    (void)state;
    mr_arena arena;
    mr_arena_init(&arena);
    for (uint32_t count = 0; count < 300; count += 23) {
        numbers all = {.spread = 40};
        mr_table table;
        assert_true(mr_table_in_arena(&table, &arena, count));
        while (all.count < count) {
            all.items[all.count] = all.count;
            *slot_of(&table, &all, all.count) = all.count + 1;
            all.count++;
        }
        check_all(&table, &all);
    }
    mr_table none;
    assert_false(mr_table_in_arena(&none, &arena, UINT32_MAX));
    mr_arena_free(&arena);
}

static uint64_t make_key(uint32_t i)
{
    return i % 3 == 0 ? i : i % 3 == 1 ? (uint64_t)i << 32 : 0 - (uint64_t)i;
}

static void test_keys(void **state)
{
    (void)state;
    mr_keys keys = {0};
    uint32_t number;
    assert_int_equal(mr_keys_find(&keys, 0), 0);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            assert_true(mr_keys_add(&keys, make_key(i), &number));
            assert_int_equal(number, i + 1);
            assert_true(keys.items[number] == make_key(i));
        }
    }
    assert_int_equal(keys.count, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(mr_keys_find(&keys, make_key(i)), i + 1);
    assert_int_equal(mr_keys_find(&keys, 1), 0);
    mr_keys_free(&keys);
}

static void test_keys_without_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 8; n++) {
        mr_keys keys = {0};
        uint32_t number, added = 0;
        mr_memory_fail_after(n);
        while (mr_keys_add(&keys, make_key(added), &number))
            added++;
        mr_memory_fail_after(0);
        for (uint32_t i = 0; i < MANY; i++) {
            assert_true(mr_keys_add(&keys, make_key(i), &number));
            assert_int_equal(number, i + 1);
        }
        mr_keys_free(&keys);
    }
}

static void test_map(void **state)
{
    (void)state;
    mr_map map = {0};
    assert_int_equal(mr_map_get(&map, 0, 77), 77);
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t *value = mr_map_at(&map, make_key(i), i ^ 5);
        assert_non_null(value);
        assert_int_equal(*value, i ^ 5);
        *value = i;
    }
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(*mr_map_at(&map, make_key(i), 9), i);
        assert_int_equal(mr_map_get(&map, make_key(i), 9), i);
        assert_true(map.items[i].key == make_key(i)); /* in the order in which they came */
    }
    assert_int_equal(map.count, MANY);
    assert_int_equal(mr_map_get(&map, 1, 77), 77);
    assert_int_equal(mr_map_get(&map, UINT64_MAX, 77), 77); /* a key like others */
    assert_int_equal(*mr_map_at(&map, UINT64_MAX, 78), 78);
    assert_int_equal(mr_map_get(&map, UINT64_MAX, 77), 78);
    mr_memory_fail_after(1);
    uint32_t added = MANY; /* one more is in the map */
    while (mr_map_at(&map, make_key(added), added))
        added++;
    mr_memory_fail_after(0);
    assert_int_equal(map.count, added + 1);
    for (uint32_t i = 0; i < 2 * MANY; i++)
        assert_int_equal(*mr_map_at(&map, make_key(i), i), i);
    mr_map_free(&map);
    assert_int_equal(mr_map_get(&map, 0, 77), 77);
}

static void test_pairs(void **state)
{
    (void)state;
    mr_pairs pairs = {0};
    assert_int_equal(mr_pairs_find(&pairs, (mr_pair){0, 0}), MR_PAIRS_NONE);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < MANY; i++)
            assert_int_equal(mr_pairs_add(&pairs, (mr_pair){i % 100, i / 100}), i);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(mr_pairs_find(&pairs, (mr_pair){i % 100, i / 100}), i);
    assert_int_equal(mr_pairs_find(&pairs, (mr_pair){0, UINT64_MAX}), MR_PAIRS_NONE);
    assert_int_equal(mr_pairs_find(&pairs, (mr_pair){MANY, 3}), MR_PAIRS_NONE);
    mr_memory_fail_after(1);
    uint32_t added = MANY;
    while (mr_pairs_add(&pairs, (mr_pair){added, added}) != MR_PAIRS_NONE)
        added++;
    mr_memory_fail_after(0);
    assert_int_equal(pairs.count, added);
    assert_int_equal(mr_pairs_add(&pairs, (mr_pair){added, added}), added);
    mr_pairs_free(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_grow_at_once),
        cmocka_unit_test(test_in_arena),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_keys_without_memory),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
