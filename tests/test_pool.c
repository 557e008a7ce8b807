/* The pool: every unit once, deliveries, waiting for units, errors, threads that cannot be had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { UNITS = 500, NEVER = UNITS };

typedef struct work_state {
    uint64_t taken, fails_at, ready; /* units below `ready` can be taken */
    atomic_uint made;
    atomic_uint busy[8]; /* one a worker */
    bool delivered[UNITS];
    unsigned deliveries;
    unsigned looks;
    pthread_mutex_t mutex; /* of `looks`, which workers read */
    mr_status deliver_status;
} work_state;

static uint64_t numbers[UNITS];

static mr_taken take(void *context, uint64_t *unit)
{
    work_state *state = context;
    if (state->taken == UNITS)
        return MR_TAKEN_NONE;
    if (state->taken == state->ready)
        return MR_TAKEN_LATER;
    *unit = state->taken++;
    return MR_TAKEN;
}

static mr_status work(void *context, unsigned worker, uint64_t unit, void **product,
                      mr_error *error)
{
    work_state *state = context;
    assert_int_equal(atomic_fetch_add(&state->busy[worker], 1), 0); /* one unit at a time */
    atomic_fetch_add(&state->made, 1);
    if (unit != state->fails_at) {
        numbers[unit] = unit * unit;
        *product = &numbers[unit];
    }
    atomic_fetch_sub(&state->busy[worker], 1);
    return unit == state->fails_at ? mr_error_set(error, MR_ERR_TRACE, "f", 3, "unit failed")
                                   : MR_OK;
}

static mr_status deliver(void *context, uint64_t unit, void *product, mr_error *error)
{
    work_state *state = context;
    assert_ptr_equal(product, &numbers[unit]);
    assert_int_equal(numbers[unit], unit * unit);
    assert_false(state->delivered[unit]);
    state->delivered[unit] = true;
    state->deliveries++;
    return state->deliver_status == MR_OK
               ? MR_OK
               : mr_error_set(error, state->deliver_status, NULL, 0, "not delivered");
}

/* Lets a few more units be taken. */
static mr_status look(void *context, mr_error *error)
{
    work_state *state = context;
    (void)error;
    pthread_mutex_lock(&state->mutex);
    state->looks++;
    pthread_mutex_unlock(&state->mutex);
    return MR_OK;
}

static mr_status run(work_state *state, unsigned workers, bool apart, mr_error *error)
{
    const mr_pool pool = {.context = state,
                          .workers = workers,
                          .apart = apart,
                          .take = take,
                          .work = work,
                          .deliver = deliver,
                          .look = look};
    memset(numbers, 0, sizeof numbers);
    return mr_pool_run(&pool, error);
}

static void test_all(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 8; workers++)
        for (int apart = 0; apart < 2; apart++) {
            work_state s = {.fails_at = NEVER, .ready = UNITS, .mutex = PTHREAD_MUTEX_INITIALIZER};
            mr_error error = {0};
            assert_int_equal(run(&s, workers, apart, &error), MR_OK);
            assert_int_equal(s.deliveries, UNITS);
            assert_true(s.looks > 0);
        }
}

/* Takes a unit only after the caller has looked around. */
static mr_taken take_later(void *context, uint64_t *unit)
{
    work_state *state = context;
    pthread_mutex_lock(&state->mutex);
    uint64_t looks = state->looks;
    pthread_mutex_unlock(&state->mutex);
    if (state->taken < UNITS && state->taken >= 20 * looks)
        return MR_TAKEN_LATER;
    state->ready = UNITS;
    return take(context, unit);
}

static void test_later(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 3; workers += 2) {
        work_state s = {.fails_at = NEVER, .mutex = PTHREAD_MUTEX_INITIALIZER};
        mr_error error = {0};
        const mr_pool pool = {.context = &s,
                              .workers = workers,
                              .take = take_later,
                              .work = work,
                              .deliver = deliver,
                              .look = look};
        memset(numbers, 0, sizeof numbers);
        assert_int_equal(mr_pool_run(&pool, &error), MR_OK);
        assert_int_equal(s.deliveries, UNITS);
        assert_true(s.looks >= UNITS / 20);
    }
}

static void test_errors(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 5; workers++) {
        work_state s = {.fails_at = 100, .ready = UNITS, .mutex = PTHREAD_MUTEX_INITIALIZER};
        mr_error error = {0};
        assert_int_equal(run(&s, workers, false, &error), MR_ERR_TRACE);
        assert_string_equal(error.text, "unit failed");
        assert_true(s.deliveries >= 100 && s.deliveries < UNITS);
        for (unsigned i = 0; i < 100; i++)
            assert_true(s.delivered[i]);
        work_state late = {.fails_at = NEVER,
                           .ready = UNITS,
                           .mutex = PTHREAD_MUTEX_INITIALIZER,
                           .deliver_status = MR_ERR_IO};
        assert_int_equal(run(&late, workers, false, &error), MR_ERR_IO);
        assert_string_equal(error.text, "not delivered");
    }
}

/* Whatever cannot be had, nothing that was made is lost. */
static void test_no_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 40; n++) {
        work_state s = {.fails_at = NEVER, .ready = UNITS, .mutex = PTHREAD_MUTEX_INITIALIZER};
        mr_error error = {0};
        mr_memory_fail_after(n);
        mr_status status = run(&s, 3, false, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_ERR_MEMORY || s.deliveries == UNITS);
        assert_int_equal(s.deliveries, s.made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_later),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
