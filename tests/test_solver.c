/*
 * Each step of the decision procedure alone, event pair by event pair, against exhaustive search on
 * random traces: linearise (races only, all sync-preserving ones), saturate, explore, lazy, Z3, the strategy
 * eager (all exact), and whole lists of accesses at once. Every schedule is accepted by the
 * checker.
 *
 *   SOLVER_TRACES  how many traces for linearise and saturate (default 3600); Z3 gets a tenth
 *   SOLVER_SEED    seed of the first one
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/cone.h"
#include "solver/decide.h"
#include "solver/linearise.h"
#include "solver/schedule.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/length.h"
#include "support/setup.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The step under examination, with those that only drop pairs before it. */
#define ALONE(step) (MR_STEP_BIT(MR_STEP_FILTER) | MR_STEP_BIT(MR_STEP_CONE) | MR_STEP_BIT(step))

enum { DEFAULT_TRACES = 3600, SHARE_TRACES = 600, DEFAULT_SEED = 770000 };

/* One window of one trace under examination. */
typedef struct examination {
    uint64_t seed;
    mr_shape shape;
    const char *text;
    mr_setup setup;
    mr_checker *checker;
    mr_exhaustive races;
    mr_session *session;
    size_t pairs, yes, no; /* in all windows; `yes` and `no`: by the step under examination */
} examination;

typedef void examine_function(examination *x);

static void wrong(const examination *x, uint32_t a, uint32_t b, const char *what)
{
    const mr_window *w = x->setup.window;
    fail_msg("%s: %" PRIu32 "-%" PRIu32 " in [%" PRIu32 ", %" PRIu32
             "), %s\nrerun: SOLVER_SEED=%" PRIu64 " SOLVER_TRACES=%d, shape %s:\n%s",
             what, w->start + a, w->start + b, w->start, w->end, mr_model_name(w->model),
             x->seed - x->seed % MR_SHAPE_ALL, MR_SHAPE_ALL, mr_shape_name(x->shape), x->text);
}

static void check_schedule(const examination *x, uint32_t a, uint32_t b, const uint32_t *events,
                           uint32_t count)
{
    const mr_window *w = x->setup.window;
    uint32_t copy[MR_EXHAUSTIVE_EVENTS];
    for (uint32_t i = 0; i < count; i++)
        copy[i] = w->start + events[i];
    mr_witness witness = {.first = w->start + a,
                          .second = w->start + b,
                          .window_start = w->start,
                          .window_end = w->end,
                          .model = w->model,
                          .events = copy,
                          .event_count = count};
    mr_error error = {0};
    if (mr_checker_check(x->checker, &witness, &error) != MR_OK)
        wrong(x, a, b, error.text);
}

/* Calls `examine_pair` for each conflicting pair of the window. */
static void each_pair(examination *x, void (*examine_pair)(examination *, uint32_t, uint32_t))
{
    const mr_window *w = x->setup.window;
    for (uint32_t a = 0; a < w->size; a++) {
        for (uint32_t b = a + 1; b < w->size; b++) {
            if (!mr_exhaustive_conflict(w->trace, w->start + a, w->start + b))
                continue;
            x->pairs++;
            examine_pair(x, a, b);
        }
    }
}

static bool races(const examination *x, uint32_t a, uint32_t b)
{
    uint32_t start = x->setup.window->start;
    return mr_exhaustive_has(&x->races, start + a, start + b);
}

/* ---- the steps ---- */

static void linearise_pair(examination *x, uint32_t a, uint32_t b)
{
    mr_setup *setup = &x->setup;
    uint32_t prefix[MR_EXHAUSTIVE_THREADS];
    if (mr_linearise(&setup->source, MR_RACE_OF(a, b), prefix, &setup->arena) != MR_LINEARISED) {
        x->no++;
        return;
    }
    x->yes++;
    if (!races(x, a, b))
        wrong(x, a, b, "linearised, but no race");
    uint32_t count;
    uint32_t *events = mr_schedule_in_trace_order(setup->window, prefix, &count, &setup->arena);
    assert_non_null(events);
    check_schedule(x, a, b, events, count);
}

static void examine_linearise(examination *x)
{
    each_pair(x, linearise_pair);
    const mr_window *w = x->setup.window;
    mr_exhaustive sync;
    assert_true(mr_exhaustive_find_sync_preserving(w->trace, w->start, w->end, &sync));
    for (size_t i = 0; i < sync.race_count; i++) {
        uint32_t a = sync.races[i].first - w->start, b = sync.races[i].second - w->start;
        uint32_t prefix[MR_EXHAUSTIVE_THREADS];
        if (mr_linearise(&x->setup.source, MR_RACE_OF(a, b), prefix, &x->setup.arena) !=
            MR_LINEARISED)
            wrong(x, a, b, "a sync-preserving race is not linearised");
    }
    mr_exhaustive_free(&sync);
}

/* What is not settled before is settled by `step`, rightly. */
static void decide_pair(examination *x, const mr_problem *problem, const mr_decide_options *options,
                        mr_step step, uint32_t a, uint32_t b)
{
    mr_decision decision;
    mr_error error = {0};
    mr_arena_mark mark = mr_arena_get_mark(&x->setup.arena);
    assert_int_equal(
        mr_decide(problem, x->session, options, a, b, &x->setup.arena, &decision, &error), MR_OK);
    if (decision.verdict == MR_VERDICT_UNKNOWN)
        wrong(x, a, b, "unknown");
    if ((decision.verdict == MR_VERDICT_RACE) != races(x, a, b))
        wrong(x, a, b, decision.verdict == MR_VERDICT_RACE ? "no race" : "a race is missed");
    if (decision.step == step)
        decision.verdict == MR_VERDICT_RACE ? x->yes++ : x->no++;
    else if (decision.step != MR_STEP_FILTER && decision.step != MR_STEP_CONE)
        wrong(x, a, b, "settled by another step");
    if (decision.verdict == MR_VERDICT_RACE)
        check_schedule(x, a, b, decision.events, decision.event_count);
    mr_arena_release(&x->setup.arena, mark);
}

static mr_problem problem_of(examination *x)
{
    mr_problem problem;
    assert_true(mr_problem_init(&problem, x->setup.window, &x->setup.arena));
    return problem;
}

static void saturate_pair(examination *x, uint32_t a, uint32_t b)
{
    mr_problem problem = problem_of(x);
    mr_decide_options options = {.steps = ALONE(MR_STEP_SATURATE), .saturate_steps = UINT64_MAX};
    decide_pair(x, &problem, &options, MR_STEP_SATURATE, a, b);
}

static void examine_saturate(examination *x)
{
    each_pair(x, saturate_pair);
}

static void explore_pair(examination *x, uint32_t a, uint32_t b)
{
    mr_problem problem = problem_of(x);
    mr_decide_options options = {.steps = ALONE(MR_STEP_EXPLORE)};
    if (x->setup.window->model != MR_MODEL_BRANCH)
        decide_pair(x, &problem, &options, MR_STEP_EXPLORE, a, b);
}

static void examine_explore(examination *x)
{
    each_pair(x, explore_pair);
}

static void z3_pair(examination *x, uint32_t a, uint32_t b)
{
    mr_problem problem = problem_of(x);
    mr_decide_options options = {.steps = ALONE(MR_STEP_Z3)};
    decide_pair(x, &problem, &options, MR_STEP_Z3, a, b);
}

static void lazy_pair(examination *x, uint32_t a, uint32_t b)
{
    mr_problem problem = problem_of(x);
    mr_decide_options options = {.steps = ALONE(MR_STEP_LAZY)};
    decide_pair(x, &problem, &options, MR_STEP_LAZY, a, b);
}

static void eager_pair(examination *x, uint32_t a, uint32_t b)
{
    mr_problem problem = problem_of(x);
    mr_decide_options options = {.steps = MR_STEP_BIT(MR_STEP_Z3), .eager = true};
    decide_pair(x, &problem, &options, MR_STEP_Z3, a, b);
}

/* ---- two lists of accesses at once ---- */

/* `mortal`: before the free of the object, or not. */
static uint32_t collect(const mr_window *w, uint32_t thread, uint32_t variable, bool writes,
                        bool mortal, uint32_t *events)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < mr_window_length(w, thread); k++) {
        uint32_t event = mr_window_at(w, thread, k);
        uint8_t op = mr_window_op(w, event);
        if ((op == MR_OP_WRITE || (op == MR_OP_READ && !writes)) && w->object[event] == variable &&
            (mr_window_end_of_life(w, event) != MR_NONE) == mortal)
            events[count++] = event;
    }
    return count;
}

static bool in_list(mr_stops list, uint32_t event)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.events[i] == event)
            return true;
    return false;
}

/* The verdict is that of the whole product, and the race that is shown is one of it. */
static void decide_lists(examination *x, const mr_problem *problem,
                         const mr_decide_options *options, mr_stops a, mr_stops b)
{
    mr_decision decision;
    mr_error error = {0};
    bool race = false;
    for (uint32_t i = 0; i < a.count; i++)
        for (uint32_t j = 0; j < b.count; j++) {
            bool before = a.events[i] < b.events[j];
            race = race ||
                   races(x, before ? a.events[i] : b.events[j], before ? b.events[j] : a.events[i]);
        }
    mr_arena_mark mark = mr_arena_get_mark(&x->setup.arena);
    assert_int_equal(
        mr_decide_any(problem, x->session, options, a, b, &x->setup.arena, &decision, &error),
        MR_OK);
    if (decision.verdict != (race ? MR_VERDICT_RACE : MR_VERDICT_NO_RACE))
        wrong(x, a.events[0], b.events[0], "wrong verdict for the lists from");
    x->pairs++;
    decision.verdict == MR_VERDICT_RACE ? x->yes++ : x->no++;
    if (race) {
        bool straight = in_list(a, decision.first) && in_list(b, decision.second);
        if (!straight && !(in_list(b, decision.first) && in_list(a, decision.second)))
            wrong(x, decision.first, decision.second, "not a pair of the lists");
        check_schedule(x, decision.first, decision.second, decision.events, decision.event_count);
    }
    mr_arena_release(&x->setup.arena, mark);
}

/* Two threads with their accesses of a variable, on each side of a free. */
static void each_sides(examination *x, const mr_problem *problem, const mr_decide_options *options,
                       uint32_t variable, uint32_t one, uint32_t two)
{
    const mr_window *w = x->setup.window;
    for (int sides = 0; sides < 4; sides++) {
        uint32_t events[2][MR_EXHAUSTIVE_EVENTS];
        mr_stops a = {events[0], collect(w, one, variable, true, sides & 1, events[0])};
        mr_stops b = {events[1], collect(w, two, variable, false, sides & 2, events[1])};
        if (a.count && b.count)
            decide_lists(x, problem, options, a, b);
    }
}

static void each_lists(examination *x, const mr_decide_options *options)
{
    const mr_window *w = x->setup.window;
    mr_problem problem = problem_of(x);
    for (uint32_t v = 0; v < w->variable_count; v++)
        for (uint32_t one = 0; one < w->thread_count; one++)
            for (uint32_t two = 0; two < w->thread_count; two++)
                if (one != two)
                    each_sides(x, &problem, options, v, one, two);
}

static void examine_lists(examination *x)
{
    each_lists(x, &(mr_decide_options){.steps = MR_ALL_STEPS, .saturate_steps = UINT64_MAX});
}

static void examine_lists_by_z3(examination *x)
{
    each_lists(x, &(mr_decide_options){.steps = ALONE(MR_STEP_Z3)});
}

static void examine_lists_lazily(examination *x)
{
    each_lists(x, &(mr_decide_options){.steps = ALONE(MR_STEP_LAZY)});
}

static void examine_lists_eagerly(examination *x)
{
    each_lists(x, &(mr_decide_options){.steps = MR_STEP_BIT(MR_STEP_Z3), .eager = true});
}

static void examine_lazy(examination *x)
{
    each_pair(x, lazy_pair);
}

static void examine_eager(examination *x)
{
    each_pair(x, eager_pair);
}

static void examine_z3(examination *x)
{
    each_pair(x, z3_pair);
}

/* With a budget that is soon used up, saturation hands over to Z3, and nothing else changes. */
static void handing_over_pair(examination *x, uint32_t a, uint32_t b)
{
    mr_problem problem = problem_of(x);
    mr_decide_options options = {.steps = ALONE(MR_STEP_SATURATE) | MR_STEP_BIT(MR_STEP_Z3),
                                 .saturate_steps = 1 + (a + b) % 40};
    mr_decision decision;
    mr_error error = {0};
    assert_int_equal(
        mr_decide(&problem, x->session, &options, a, b, &x->setup.arena, &decision, &error), MR_OK);
    if (decision.verdict != (races(x, a, b) ? MR_VERDICT_RACE : MR_VERDICT_NO_RACE))
        wrong(x, a, b, "handing over changes the verdict");
    if (decision.verdict == MR_VERDICT_RACE)
        check_schedule(x, a, b, decision.events, decision.event_count);
    x->yes += decision.step == MR_STEP_Z3;
    x->no += decision.step == MR_STEP_SATURATE;
}

static void examine_handing_over(examination *x)
{
    each_pair(x, handing_over_pair);
}

/* ---- writers that are offered late ---- */

enum { OVERWRITTEN = 12 };

/* The read of C saw a write after the access of A. `early`: the one other write that it can see is
 * farther away in the trace than many that are overwritten under the lock of the read. */
static void make_staged(char *text, size_t size_bytes, bool early)
{
    int used = snprintf(text, size_bytes, "%s", early ? "E|w(x=1)|1\n" : "E|w(x=3)|1\n");
    for (int i = 0; i < OVERWRITTEN; i++)
        used += snprintf(text + used, size_bytes - (size_t)used,
                         "D|acq(l)|2\nD|w(x=1)|3\nD|w(x=2)|4\nD|rel(l)|5\n");
    snprintf(text + used, size_bytes - (size_t)used,
             "A|w(y=1)|6\nA|w(x=1)|7\nC|acq(l)|8\nC|r(x=1)|9\nC|rel(l)|10\nC|w(y=2)|11\n");
}

static void test_late_writers(void **state)
{
    (void)state;
    for (int early = 0; early < 2; early++) {
        char text[2000];
        make_staged(text, sizeof text, early);
        examination x = {.session = mr_session_new(), .text = text};
        assert_non_null(x.session);
        mr_setup_open(&x.setup, text);
        uint32_t count = x.setup.trace->event_count, a = count - 6, b = count - 1;
        mr_setup_window(&x.setup, 0, count, MR_MODEL_VALUE);
        x.checker = mr_checker_new(x.setup.trace, MR_OPAQUE_PAIR);
        assert_non_null(x.checker);
        mr_problem problem = problem_of(&x);
        static const unsigned steps[] = {ALONE(MR_STEP_LAZY), ALONE(MR_STEP_SATURATE),
                                         ALONE(MR_STEP_EXPLORE), ALONE(MR_STEP_Z3)};
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            mr_decide_options options = {.steps = steps[i], .saturate_steps = UINT64_MAX};
            mr_decision decision;
            mr_error error = {0};
            assert_int_equal(
                mr_decide(&problem, x.session, &options, a, b, &x.setup.arena, &decision, &error),
                MR_OK);
            assert_int_equal(decision.verdict, early ? MR_VERDICT_RACE : MR_VERDICT_NO_RACE);
            if (early)
                check_schedule(&x, a, b, decision.events, decision.event_count);
        }
        mr_checker_free(x.checker);
        mr_setup_close(&x.setup);
        mr_session_free(x.session);
    }
}

/* ---- running ---- */

static void examine_window(examination *x, examine_function *examine, uint32_t start, uint32_t end,
                           mr_model model)
{
    mr_setup_window(&x->setup, start, end, model);
    assert_true(mr_exhaustive_find(x->setup.trace, model, start, end, &x->races));
    examine(x);
    mr_exhaustive_free(&x->races);
}

/* The whole trace in all models, and one smaller window in one of them. */
static void examine_trace(examination *x, examine_function *examine)
{
    mr_setup_open(&x->setup, x->text);
    x->checker = mr_checker_new(x->setup.trace, MR_OPAQUE_PAIR);
    assert_non_null(x->checker);
    uint32_t count = x->setup.trace->event_count;
    mr_random random = {x->seed};
    uint32_t start = mr_random_below(&random, count), end = mr_random_range(&random, start, count);
    mr_model model = (mr_model)mr_random_below(&random, MR_MODEL_BRANCH + 1);
    examine_window(x, examine, start, end, model);
    examine_window(x, examine, 0, count, MR_MODEL_RF);
    examine_window(x, examine, 0, count, MR_MODEL_VALUE);
    examine_window(x, examine, 0, count, MR_MODEL_BRANCH);
    mr_checker_free(x->checker);
    mr_setup_close(&x->setup);
}

static examination run(examine_function *examine, uint32_t part)
{
    uint64_t traces = mr_length("SOLVER_TRACES", SHARE_TRACES, DEFAULT_TRACES) / part;
    uint64_t seed = mr_number_from_environment("SOLVER_SEED", DEFAULT_SEED);
    examination x = {.session = mr_session_new()};
    assert_non_null(x.session);
    for (uint64_t i = 0; i < traces; i++) {
        x.seed = seed + i;
        x.shape = (mr_shape)(x.seed % MR_SHAPE_ALL);
        char *text = mr_generate_trace(x.seed, x.shape);
        assert_non_null(text);
        x.text = text;
        examine_trace(&x, examine);
        free(text);
    }
    mr_session_free(x.session);
    print_message("%" PRIu64 " traces, %zu pairs, this step says yes to %zu, no to %zu\n", traces,
                  x.pairs, x.yes, x.no);
    return x;
}

static void test_linearise(void **state)
{
    (void)state;
    examination x = run(examine_linearise, 1);
    assert_true(x.yes && x.no);
}

static void test_saturate(void **state)
{
    (void)state;
    examination x = run(examine_saturate, 1);
    assert_true(x.yes && x.no);
}

static void test_explore(void **state)
{
    (void)state;
    examination x = run(examine_explore, 1);
    assert_true(x.yes && x.no);
}

static void test_z3(void **state)
{
    (void)state;
    examination x = run(examine_z3, 10);
    assert_true(x.yes && x.no);
}

static void test_lazy(void **state)
{
    (void)state;
    examination x = run(examine_lazy, 10);
    assert_true(x.yes && x.no);
}

static void test_eager(void **state)
{
    (void)state;
    examination x = run(examine_eager, 20);
    assert_true(x.yes && x.no);
}

static void test_handing_over(void **state)
{
    (void)state;
    examination x = run(examine_handing_over, 20);
    assert_true(x.yes && x.no);
}

static void test_lists(void **state)
{
    (void)state;
    examination x = run(examine_lists, 1);
    assert_true(x.yes && x.no);
}

static void test_lists_by_z3(void **state)
{
    (void)state;
    examination whole = run(examine_lists_by_z3, 20), lazy = run(examine_lists_lazily, 20);
    examination eager = run(examine_lists_eagerly, 20);
    assert_true((whole.yes && whole.no) || mr_length_few());
    assert_true(lazy.yes == whole.yes && lazy.no == whole.no);
    assert_true(eager.yes == whole.yes && eager.no == whole.no);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linearise), cmocka_unit_test(test_saturate),
        cmocka_unit_test(test_explore),   cmocka_unit_test(test_late_writers),
        cmocka_unit_test(test_lazy),      cmocka_unit_test(test_eager),
        cmocka_unit_test(test_z3),        cmocka_unit_test(test_handing_over),
        cmocka_unit_test(test_lists),     cmocka_unit_test(test_lists_by_z3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
