/*
 * Vector clocks of few and of many threads do the same as arrays: random joins, copies and meets,
 * while the number of threads grows past the one from which clocks are trees. Without memory
 * nothing is lost and nothing crashes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "order/clock.h"
#include "support/random.h"

#include <string.h>

enum { CLOCKS = 12, THREADS = 3000, STEPS = 1500, SEEDS = 4 };

/* Clocks, and what they should say. */
typedef struct pair {
    mr_clock_pool pool;
    mr_clock *clock[CLOCKS];
    uint32_t naive[CLOCKS][THREADS];
} pair;

static uint32_t most(uint32_t one, uint32_t two)
{
    return one > two ? one : two;
}

static void drop_all(pair *p)
{
    for (int i = 0; i < CLOCKS; i++)
        mr_clock_drop(&p->pool, &p->clock[i]);
    mr_clock_pool_free(&p->pool);
}

static void compare(const pair *p, int i)
{
    for (uint32_t t = 0; t < THREADS; t++)
        if (mr_clock_get(p->clock[i], t) != p->naive[i][t])
            fail_msg("clock %d has %u for thread %u, not %u", i, mr_clock_get(p->clock[i], t), t,
                     p->naive[i][t]);
}

static void join(pair *p, int to, int from, uint32_t thread, uint32_t local)
{
    const mr_time time = {p->clock[from], thread, local};
    assert_true(mr_clock_join(&p->pool, &p->clock[to], time));
    for (uint32_t t = 0; t < THREADS; t++)
        p->naive[to][t] = most(p->naive[to][t], p->naive[from][t]);
    p->naive[to][thread] = most(p->naive[to][thread], local);
}

static void meet(pair *p, int to, int one, int two, uint32_t thread, uint32_t local)
{
    mr_clock *met = NULL;
    assert_true(
        mr_clock_meet(&p->pool, &met, (mr_time){p->clock[one], thread, local}, p->clock[two]));
    uint32_t naive[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t x = t == thread ? most(p->naive[one][t], local) : p->naive[one][t];
        naive[t] = x < p->naive[two][t] ? x : p->naive[two][t];
    }
    mr_clock_drop(&p->pool, &p->clock[to]);
    p->clock[to] = met;
    memcpy(p->naive[to], naive, sizeof naive);
}

static void step(pair *p, mr_random *random, uint32_t threads)
{
    int to = (int)mr_random_below(random, CLOCKS), from = (int)mr_random_below(random, CLOCKS);
    uint32_t thread = mr_random_below(random, threads), local = mr_random_below(random, 50);
    uint32_t what = mr_random_below(random, 100);
    if (what < 70) {
        join(p, to, from, thread, local);
    } else if (what < 80) {
        meet(p, to, from, (int)mr_random_below(random, CLOCKS), thread, local);
    } else if (what < 95) {
        mr_clock_set(&p->pool, &p->clock[to], p->clock[from]);
        memmove(p->naive[to], p->naive[from], sizeof p->naive[to]);
    } else {
        mr_clock_drop(&p->pool, &p->clock[to]);
        memset(p->naive[to], 0, sizeof p->naive[to]);
    }
    compare(p, to);
}

static void test_as_arrays(void **state)
{
    (void)state;
    static const uint32_t first[] = {1, 100, 129, THREADS};
    static pair p;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        mr_random random = {seed};
        uint32_t threads = first[seed];
        memset(&p, 0, sizeof p);
        for (int i = 0; i < STEPS; i++) {
            if (mr_random_percent(&random, 3) && threads < THREADS)
                threads += 1 + mr_random_below(&random, threads < 200 ? 20 : THREADS - threads);
            mr_clock_pool_grow(&p.pool, threads);
            step(&p, &random, threads);
        }
        for (int i = 0; i < CLOCKS; i++)
            compare(&p, i);
        drop_all(&p);
    }
}

/* A join that brings no news leaves the clock the one that others share. */
static void test_no_news(void **state)
{
    (void)state;
    static const uint32_t threads[] = {8, 1000};
    for (int i = 0; i < 2; i++) {
        mr_clock_pool pool = {0};
        mr_clock *one = NULL, *two = NULL, *shared;
        mr_clock_pool_grow(&pool, threads[i]);
        assert_true(mr_clock_join(&pool, &one, (mr_time){NULL, threads[i] - 1, 7}));
        assert_true(mr_clock_join(&pool, &two, (mr_time){one, 3, 5}));
        shared = mr_clock_share(two);
        assert_true(mr_clock_join(&pool, &two, (mr_time){one, 3, 4}));
        assert_ptr_equal(two, shared);
        mr_clock_drop(&pool, &one);
        mr_clock_drop(&pool, &two);
        mr_clock_drop(&pool, &shared);
        mr_clock_pool_free(&pool);
    }
}

static void test_lack_of_memory(void **state)
{
    (void)state;
    uint64_t refused = 0, granted = 0;
    for (uint64_t n = 1; n < 40; n++) {
        mr_clock_pool pool = {0};
        mr_clock *one = NULL, *two = NULL, *copy, *met = NULL;
        mr_clock_pool_grow(&pool, 100);
        assert_true(mr_clock_join(&pool, &one, (mr_time){NULL, 5, 5}));
        mr_clock_pool_grow(&pool, 2000);
        assert_true(mr_clock_join(&pool, &two, (mr_time){NULL, 1500, 5}));
        copy = mr_clock_share(two);
        mr_memory_fail_after(n);
        bool done = mr_clock_join(&pool, &two, (mr_time){one, 70, 1}) &&
                    mr_clock_meet(&pool, &met, (mr_time){two, 3, 3}, copy);
        mr_memory_fail_after(0);
        granted += done;
        refused += !done;
        assert_int_equal(mr_clock_get(copy, 1500), 5);
        assert_int_equal(mr_clock_get(copy, 70), 0);
        assert_int_equal(mr_clock_get(one, 5), 5);
        mr_clock_drop(&pool, &one);
        mr_clock_drop(&pool, &two);
        mr_clock_drop(&pool, &copy);
        mr_clock_drop(&pool, &met);
        mr_clock_pool_free(&pool);
    }
    assert_true(refused > 5 && granted > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_arrays),
        cmocka_unit_test(test_no_news),
        cmocka_unit_test(test_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
