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
#include "solver/cone.h"
#include "solver/eliminate.h"
#include "solver/greedy.h"
#include "solver/linearise.h"
#include "support/exhaustive.h"
#include "support/random.h"
#include "support/setup.h"
#include "support/trials.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>

enum { DEFAULT_TRACES = 4000, DEFAULT_SEED = 27182818, PASSES = 20 };

typedef struct examination {
    mr_setup setup;
    mr_exhaustive races;
    mr_checker *checker;
    const char *wrong; /* NULL: nothing */
    char text[1024];
    uint64_t missed;   /* races that trace order misses: pairs */
    uint64_t found[2]; /* of these, without and with what eliminate knows */
} examination;

typedef struct question {
    mr_stops stops[2];
    uint32_t required[MR_EXHAUSTIVE_THREADS], cone[MR_EXHAUSTIVE_THREADS];
    mr_known known;
} question;

/* False: filter and cone leave nothing. */
static bool prepare(examination *x, question *q)
{
    const mr_setup *setup = &x->setup;
    uint32_t allowed[MR_EXHAUSTIVE_THREADS], last[2];
    if (!mr_cone_narrow(&setup->forced, &q->stops[0], &q->stops[1]))
        return false;
    mr_cone_required(&setup->forced, q->stops[0].events[0], q->stops[1].events[0], q->required);
    for (int i = 0; i < 2; i++)
        last[i] = q->stops[i].events[q->stops[i].count - 1];
    mr_cone_allowed(&setup->forced, last[0], last[1], allowed);
    assert_true(mr_cone_close(&setup->hard, &setup->forced, q->required, allowed, last, q->cone,
                              &x->setup.arena));
    return true;
}

/* Is what greedy finds a witness? False: it finds nothing. */
static bool find(examination *x, const question *q, const mr_known *known)
{
    const mr_window *w = x->setup.window;
    const mr_greedy_question ask = {&x->setup.forced, q->stops, q->required, q->cone, known};
    uint32_t *events, count, copy[MR_EXHAUSTIVE_EVENTS];
    mr_greedy answer = mr_greedy_run(&ask, PASSES, &events, &count, &x->setup.arena);
    assert_int_not_equal(answer, MR_GREEDY_NO_MEMORY);
    if (answer != MR_GREEDY_FOUND)
        return false;
    for (uint32_t i = 0; i < count; i++)
        copy[i] = w->start + events[i];
    uint32_t a = w->start + q->stops[0].events[0], b = w->start + q->stops[1].events[0];
    mr_witness witness = {.first = a < b ? a : b,
                          .second = a < b ? b : a,
                          .window_start = w->start,
                          .window_end = w->end,
                          .model = w->model,
                          .events = copy,
                          .event_count = count};
    mr_error error = {0};
    if (!x->wrong && mr_checker_check(x->checker, &witness, &error) != MR_OK) {
        x->wrong = x->text;
        snprintf(x->text, sizeof x->text,
                 "%" PRIu32 "-%" PRIu32 " in [%" PRIu32 ", %" PRIu32 "), %s%s: %s", a, b, w->start,
                 w->end, mr_model_name(w->model), known ? ", known" : "", error.text);
    }
    return true;
}

static void examine_question(examination *x, mr_stops a, mr_stops b)
{
    question q = {.stops = {a, b}};
    const mr_eliminate_limits limits = {0};
    const mr_window *w = x->setup.window;
    uint32_t prefix[MR_EXHAUSTIVE_THREADS];
    mr_arena_mark mark = mr_arena_get_mark(&x->setup.arena);
    if (prepare(x, &q)) {
        uint32_t one = w->start + a.events[0], two = w->start + b.events[0];
        bool missed = a.count + b.count == 2 && mr_exhaustive_has(&x->races, one, two) &&
                      mr_linearise(&x->setup.source, a.events[0], b.events[0], prefix,
                                   &x->setup.arena) != MR_LINEARISED;
        x->missed += missed;
        x->found[0] += find(x, &q, NULL) && missed;
        if (mr_eliminate(&x->setup.forced, q.stops, q.required, q.cone, &limits, &q.known,
                         &x->setup.arena) == MR_ELIMINATED_SOME)
            x->found[1] += find(x, &q, &q.known) && missed;
    }
    mr_arena_release(&x->setup.arena, mark);
}

/* The accesses of the event's thread to its variable, by the same operation, from it on. */
static mr_stops list_from(const mr_window *w, uint32_t event, uint32_t *events)
{
    uint32_t count = 0;
    for (uint32_t i = event; i < w->size; i++)
        if (w->thread[i] == w->thread[event] && mr_window_op(w, i) == mr_window_op(w, event) &&
            w->object[i] == w->object[event])
            events[count++] = i;
    return (mr_stops){events, count};
}

static void examine_window(examination *x)
{
    const mr_window *w = x->setup.window;
    for (uint32_t a = 0; a < w->size; a++) {
        for (uint32_t b = a + 1; b < w->size && !x->wrong; b++) {
            uint32_t events[2][MR_EXHAUSTIVE_EVENTS];
            if (!mr_exhaustive_conflict(w->trace, w->start + a, w->start + b))
                continue;
            examine_question(x, (mr_stops){&a, 1}, (mr_stops){&b, 1});
            mr_stops one = list_from(w, a, events[0]), two = list_from(w, b, events[1]);
            if (one.count + two.count > 2)
                examine_question(x, one, two);
        }
    }
}

static void examine(mr_trial *trial, void *context)
{
    examination *x = context;
    mr_random random = {trial->choice};
    uint32_t count = trial->trace->event_count;
    x->wrong = NULL;
    mr_setup_take(&x->setup, trial->trace);
    x->checker = mr_checker_new(trial->trace, MR_OPAQUE_PAIR);
    assert_non_null(x->checker);
    for (int model = 0; model <= MR_MODEL_BRANCH && !x->wrong && count > 1; model++) {
        bool whole = mr_random_percent(&random, 60);
        uint32_t start = whole ? 0 : mr_random_below(&random, count / 2);
        uint32_t end = whole ? count : mr_random_range(&random, start + 1, count);
        mr_setup_window(&x->setup, start, end, (mr_model)model);
        assert_true(mr_exhaustive_find(trial->trace, (mr_model)model, start, end, &x->races));
        examine_window(x);
        mr_exhaustive_free(&x->races);
    }
    if (x->wrong)
        mr_trial_wrong(trial, "%s", x->wrong);
    mr_checker_free(x->checker);
    mr_setup_give_back(&x->setup);
}

static void test_random_traces(void **state)
{
    (void)state;
    examination x = {0};
    const mr_trials trials = {
        .prefix = "GREEDY", .traces = DEFAULT_TRACES, .seed = DEFAULT_SEED, .all_kinds = true};
    uint64_t traces = mr_trials_run(&trials, examine, &x);
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
    examination x = {0};
    uint32_t a = 3, b = 10, *events, count;
    question q = {.stops = {{&a, 1}, {&b, 1}}};
    mr_greedy answer = MR_GREEDY_NO_MEMORY;
    mr_setup_open(&x.setup, swapped);
    mr_setup_window(&x.setup, 0, x.setup.trace->event_count, MR_MODEL_VALUE);
    assert_true(prepare(&x, &q));
    const mr_greedy_question ask = {&x.setup.forced, q.stops, q.required, q.cone, NULL};
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
    mr_setup_close(&x.setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
