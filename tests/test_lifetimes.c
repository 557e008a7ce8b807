/* lifetimes: random lives against their definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/random.h"

#include "record/lifetimes.h"

enum { SPACE = 300 };

static void test_lives(void **state)
{
    (void)state;
    mr_random random = {1};
    mr_lifetimes lives;
    uint32_t owner[SPACE] = {0}, given = 0;
    mr_lifetimes_init(&lives);
    for (int step = 0; step < 20000; step++) {
        uint32_t start = mr_random_below(&random, SPACE - 40);
        uint32_t bytes = mr_random_below(&random, 40);
        bool give = mr_random_percent(&random, 50);
        if (give && bytes)
            given++;
        assert_true(give ? mr_lifetimes_give(&lives, start, bytes, 0, 0)
                         : mr_lifetimes_take(&lives, start, bytes, false));
        for (uint32_t i = start; i < start + bytes; i++)
            owner[i] = give ? given : 0;
        for (uint32_t i = 0; i < SPACE; i += 1 + mr_random_below(&random, 9)) {
            const mr_life *life = mr_lifetimes_find(&lives, i);
            assert_int_equal(life->number, owner[i]);
            assert_true(!life->number || (i >= life->start && i < life->end));
            uint32_t asked = mr_random_below(&random, SPACE - i), same = 0;
            while (same < asked && owner[i + same] == owner[i])
                same++;
            assert_int_equal(mr_lifetimes_reach(&lives, i, asked), same);
        }
    }
    mr_lifetimes_free(&lives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
