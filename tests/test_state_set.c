/* state_set: random sets that grow at both ends, against one flag a state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/state_set.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum { SETS = 50, STATES = 64 * MR_STATE_MOST_WORDS, ROUNDS = 20000 };

static void sets_have_what_was_added(void **state)
{
    (void)state;
    mr_random random = {7};
    mr_arena arena;
    mr_arena_init(&arena);
    mr_state_pool *pool = mr_arena_zalloc(&arena, 1, sizeof *pool);
    mr_state_set *sets = mr_arena_zalloc(&arena, SETS, sizeof *sets);
    bool(*flags)[STATES] = mr_arena_zalloc(&arena, SETS, sizeof *flags);
    assert_true(pool && sets && flags);
    pool->arena = &arena;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t k = mr_random_below(&random, SETS), reach = 64 + i % 512;
        uint32_t added = STATES / 2 - reach / 2 + mr_random_below(&random, reach);
        assert_true(mr_state_set_cover(pool, &sets[k], added / 64, added / 64));
        mr_state_set_change(pool, &sets[k])[added / 64 - sets[k].first] |= UINT64_C(1)
                                                                           << added % 64;
        flags[k][added] = true;
        for (uint32_t s = STATES / 2 - 300; s < STATES / 2 + 300; s += 1 + i % 7) {
            uint64_t word = UINT64_C(1) << s % 64;
            assert_int_equal(mr_state_set_has(pool, &sets[k], s), flags[k][s]);
            assert_int_equal(mr_state_set_has_all(pool, &sets[k], s / 64, 1, &word), flags[k][s]);
        }
    }
    assert_false(pool->full || pool->out_of_memory);
    mr_arena_free(&arena);
}

static void a_set_that_is_too_long_is_refused(void **state)
{
    (void)state;
    mr_arena arena;
    mr_arena_init(&arena);
    mr_state_pool *pool = mr_arena_zalloc(&arena, 1, sizeof *pool);
    mr_state_set set = {0}, other = {0};
    assert_non_null(pool);
    pool->arena = &arena;
    assert_true(mr_state_set_cover(pool, &set, 10, 10));
    assert_true(
        mr_state_set_cover(pool, &set, 10 + MR_STATE_MOST_WORDS - 1, 10 + MR_STATE_MOST_WORDS - 1));
    assert_false(mr_state_set_cover(pool, &set, 9, 9));
    assert_true(pool->full);
    *pool = (mr_state_pool){.arena = &arena, .max_bytes = 1};
    assert_true(mr_state_set_cover(pool, &other, 0, MR_STATE_WORDS - 1));
    assert_false(mr_state_set_cover(pool, &other, 0, MR_STATE_WORDS));
    assert_true(pool->full && !pool->out_of_memory);
    mr_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_have_what_was_added),
        cmocka_unit_test(a_set_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
