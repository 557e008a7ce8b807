/*
 * What greedy.h finds is a race and its witness is accepted, on random traces with all kinds of
 * operations, in all models, for pairs of accesses and for lists, with and without what eliminate
 * knows; and it finds most of the races that trace order misses.
 *
 *   GREEDY_TRACES, GREEDY_SEED, GREEDY_SHAPE choose other traces (support/trials.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "solver/eliminate.h"
#include "solver/greedy.h"
#include "solver/linearise.h"
#include "support/window_trials.h"

#include <inttypes.h>

enum { DEFAULT_TRACES = 4000, DEFAULT_SEED = 27182818, PASSES = 20 };

typedef struct examination {
    mr_window_trials trials;
    uint64_t missed;   /* races that trace order misses: pairs */
    uint64_t found[2]; /* of these, without and with what eliminate knows */
} examination;

/* Is what greedy finds a witness? False: it finds nothing. */
static bool find(examination *x, const mr_cone_question *q, const mr_known *known)
{
    mr_setup *setup = &x->trials.setup;
    const mr_greedy_question ask = {&setup->forced, &q->goal, q->required, q->cone, known};
    uint32_t *events, count;
    mr_greedy answer = mr_greedy_run(&ask, PASSES, &events, &count, &setup->arena);
    assert_int_not_equal(answer, MR_GREEDY_NO_MEMORY);
    if (answer == MR_GREEDY_FOUND)
        mr_window_trials_check(&x->trials, q->stops[0].events[0], q->stops[1].events[0], events,
                               count, known ? " with what is known" : "");
    return answer == MR_GREEDY_FOUND;
}

static void ask(void *context, mr_stops a, mr_stops b)
{
    examination *x = context;
    mr_setup *setup = &x->trials.setup;
    const mr_eliminate_limits limits = {0};
    uint32_t prefix[MR_EXHAUSTIVE_THREADS], start = setup->window->start;
    mr_cone_question q = {.stops = {a, b}};
    mr_known known = {0};
    if (!mr_cone_question_pose(&q, setup))
        return;
    bool missed = a.count + b.count == 2 &&
                  mr_exhaustive_has(&x->trials.search, start + a.events[0], start + b.events[0]) &&
                  mr_linearise(&setup->source, MR_RACE_OF(a.events[0], b.events[0]), prefix,
                               &setup->arena) != MR_LINEARISED;
    x->missed += missed;
    x->found[0] += find(x, &q, NULL) && missed;
    if (mr_eliminate(&setup->forced, NULL, &q.goal, q.required, q.cone, &limits, &known,
                     &setup->arena) == MR_ELIMINATED_SOME &&
        mr_eliminate_complete(&known) == MR_ELIMINATED_SOME)
        x->found[1] += find(x, &q, &known) && missed;
}

static void test_random_traces(void **state)
{
    (void)state;
    examination x = {.trials = {.context = &x, .ask = ask, .lists = true}};
    const mr_trials trials = {
        .prefix = "GREEDY", .traces = DEFAULT_TRACES, .seed = DEFAULT_SEED, .all_kinds = true};
    uint64_t traces = mr_trials_run(&trials, mr_window_trials_trial, &x.trials);
    print_message("%" PRIu64 " races that trace order misses: %" PRIu64 " found, %" PRIu64
                  " with what eliminate knows\n",
                  x.missed, x.found[0], x.found[1]);
    if (traces >= DEFAULT_TRACES)
        assert_true(x.missed > 500 && x.found[0] > x.missed / 10 * 7 &&
                    x.found[1] > x.missed / 10 * 9);
}

/* Another write of the value: the sections of l the other way round. */
static const char *const swapped = "A|acq(l)|1\nA|w(x=1)|2\nA|rel(l)|3\nA|w(y=1)|4\n"
                                   "C|acq(l)|5\nC|w(x=1)|6\nC|rel(l)|7\n"
                                   "B|acq(l)|8\nB|r(x=1)|9\nB|rel(l)|10\nB|w(y=2)|11\n";

static void test_no_memory(void **state)
{
    (void)state;
    mr_setup setup;
    uint32_t a = 3, b = 10, *events, count;
    mr_cone_question q = {.stops = {{&a, 1}, {&b, 1}}};
    mr_greedy answer = MR_GREEDY_NO_MEMORY;
    mr_setup_open(&setup, swapped);
    mr_setup_window(&setup, 0, setup.trace->event_count, MR_MODEL_VALUE);
    assert_true(mr_cone_question_pose(&q, &setup));
    const mr_greedy_question ask = {&setup.forced, &q.goal, q.required, q.cone, NULL};
    for (uint64_t fail_at = 1; answer == MR_GREEDY_NO_MEMORY; fail_at++) {
        mr_arena arena;
        mr_arena_init(&arena);
        mr_memory_fail_after(fail_at);
        answer = mr_greedy_run(&ask, PASSES, &events, &count, &arena);
        mr_memory_fail_after(0);
        assert_true(answer != MR_GREEDY_NO_MEMORY || fail_at < 50);
        mr_arena_free(&arena);
    }
    assert_int_equal(answer, MR_GREEDY_FOUND);
    mr_setup_close(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
