/*
 * What reorder.h finds is a witness, on random traces with all kinds of operations, in all models;
 * and it finds much of what trace order misses.
 *
 *   REORDER_TRACES, REORDER_SEED, REORDER_SHAPE choose other traces (support/trials.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "solver/linearise.h"
#include "solver/reorder.h"
#include "support/window_trials.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_TRACES = 4000, DEFAULT_SEED = 16180339 };

typedef struct examination {
    mr_window_trials trials;
    uint64_t missed, found; /* races that trace order misses, found of these: pairs */
} examination;

/* Is what is found for two window events a witness? False: nothing is found. */
static bool find(examination *x, uint32_t a, uint32_t b)
{
    mr_setup *setup = &x->trials.setup;
    uint32_t *events, count;
    mr_foreign_reads foreign;
    assert_true(mr_foreign_reads_list(&foreign, setup->window, &setup->arena));
    mr_reordered answer =
        mr_reorder(&setup->forced, &setup->source, &foreign, a, b, &events, &count, &setup->arena);
    assert_int_not_equal(answer, MR_REORDER_NO_MEMORY);
    if (answer == MR_REORDERED)
        mr_window_trials_check(&x->trials, a, b, events, count, "");
    return answer == MR_REORDERED;
}

static void ask(void *context, mr_stops one, mr_stops two)
{
    examination *x = context;
    mr_setup *setup = &x->trials.setup;
    uint32_t prefix[MR_EXHAUSTIVE_THREADS], start = setup->window->start;
    uint32_t a = one.events[0], b = two.events[0];
    bool missed =
        mr_exhaustive_has(&x->trials.search, start + a, start + b) &&
        mr_linearise(&setup->source, MR_RACE_OF(a, b), prefix, &setup->arena) != MR_LINEARISED;
    x->missed += missed;
    x->found += find(x, a, b) && missed;
}

static void test_random_traces(void **state)
{
    (void)state;
    examination x = {.trials = {.context = &x, .ask = ask}};
    const mr_trials trials = {
        .prefix = "REORDER", .traces = DEFAULT_TRACES, .seed = DEFAULT_SEED, .all_kinds = true};
    uint64_t traces = mr_trials_run(&trials, mr_window_trials_trial, &x.trials);
    print_message("%" PRIu64 " races that trace order misses, %" PRIu64 " found\n", x.missed,
                  x.found);
    mr_trials_run(&(mr_trials){.prefix = "REORDER",
                               .traces = DEFAULT_TRACES / 8,
                               .seed = DEFAULT_SEED,
                               .shape = "shared-locks"},
                  mr_window_trials_trial, &x.trials);
    if (traces >= DEFAULT_TRACES)
        assert_true(x.missed > 500 && x.found > x.missed / 2);
}

/* ---- by hand ---- */

typedef struct known_case {
    const char *text;
    uint32_t a, b;
    mr_model model;
    const char *order; /* event numbers; NULL: not found */
} known_case;

static const known_case cases[] = {
    /* A's section is left open, so that of B comes first. */
    {"A|acq(l)|1\nA|w(x)|2\nA|rel(l)|3\nB|acq(l)|4\nB|rel(l)|5\nB|w(x)|6\n", 1, 5, MR_MODEL_RF,
     "3 4 0"},
    /* The same with what needs the section that is held back. */
    {"A|acq(l)|1\nA|fork(C)|2\nC|w(z)|3\nA|w(x)|4\nA|rel(l)|5\nB|acq(l)|6\nB|rel(l)|7\nB|w(x)|8\n",
     3, 7, MR_MODEL_RF, "5 6 0 1"},
    /* B's read sees C's write of the value, when A's write of another one is held back. */
    {"C|aw(f=1)|1\nA|aw(f=0)|2\nA|w(x)|3\nA|aw(f=1)|4\nB|ar(f=1)|5\nB|w(x)|6\n", 2, 5,
     MR_MODEL_VALUE, "0 4 1"},
    {"C|aw(f=1)|1\nA|aw(f=0)|2\nA|w(x)|3\nA|aw(f=1)|4\nB|ar(f=1)|5\nB|w(x)|6\n", 2, 5, MR_MODEL_RF,
     NULL},
    /* Nobody else writes the value. */
    {"C|aw(f=2)|1\nA|aw(f=0)|2\nA|w(x)|3\nA|aw(f=1)|4\nB|ar(f=1)|5\nB|w(x)|6\n", 2, 5,
     MR_MODEL_VALUE, NULL},
    /* The section around the write is held back with it. */
    {"C|acq(l)|1\nC|w(f=1)|2\nC|rel(l)|3\nA|acq(l)|4\nA|w(f=0)|5\nA|rel(l)|6\nA|w(x)|7\n"
     "A|acq(l)|8\nA|w(f=1)|9\nA|rel(l)|10\nB|acq(l)|11\nB|r(f=1)|12\nB|rel(l)|13\nB|w(x)|14\n",
     6, 13, MR_MODEL_VALUE, "0 1 2 10 11 12 3 4 5"},
};

static void test_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const known_case *it = &cases[i];
        mr_setup setup;
        uint32_t *events, count;
        char order[256] = "";
        mr_foreign_reads foreign;
        mr_setup_open(&setup, it->text);
        mr_setup_window(&setup, 0, setup.trace->event_count, it->model);
        assert_true(mr_foreign_reads_list(&foreign, setup.window, &setup.arena));
        mr_reordered found = mr_reorder(&setup.forced, &setup.source, &foreign, it->a, it->b,
                                        &events, &count, &setup.arena);
        assert_int_equal(found, it->order ? MR_REORDERED : MR_NOT_REORDERED);
        for (uint32_t k = 0; it->order && k < count; k++) {
            size_t length = strlen(order);
            snprintf(order + length, sizeof order - length, k ? " %" PRIu32 : "%" PRIu32,
                     events[k]);
        }
        if (it->order)
            assert_string_equal(order, it->order);
        mr_setup_close(&setup);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    mr_setup setup;
    uint32_t *events, count;
    const known_case *it = &cases[5];
    mr_reordered answer = MR_REORDER_NO_MEMORY;
    mr_setup_open(&setup, it->text);
    mr_setup_window(&setup, 0, setup.trace->event_count, it->model);
    for (uint64_t fail_at = 1; answer == MR_REORDER_NO_MEMORY; fail_at++) {
        mr_arena arena;
        mr_arena_init(&arena);
        mr_memory_fail_after(fail_at);
        mr_foreign_reads foreign;
        if (mr_foreign_reads_list(&foreign, setup.window, &arena))
            answer = mr_reorder(&setup.forced, &setup.source, &foreign, it->a, it->b, &events,
                                &count, &arena);
        mr_memory_fail_after(0);
        assert_true(answer != MR_REORDER_NO_MEMORY || fail_at < 50);
        mr_arena_free(&arena);
    }
    assert_int_equal(answer, MR_REORDERED);
    mr_setup_close(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
