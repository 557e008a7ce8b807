/*
 * deferred: windows that leave their questions until the search for far races has been (candidates.defer). Whatever that search
 * is allowed to take, each race that windows prove at once is found, and nothing is unknown that was not; the result is
 * the same for any number of threads.
 *
 *   DEFERRED_TRACES, DEFERRED_SEED, DEFERRED_SHAPE choose other traces (support/trials.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/deferred.h"
#include "predict/merge.h"
#include "support/predicted.h"
#include "support/random.h"
#include "support/trials.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TRACES = 8000, SHARE_TRACES = 400, DEFAULT_SEED = 20261128 };

/* What the search for far races may take: enough, hardly anything, and what ends it on its way. */
static const char *const works[] = {"250000000", "1", "40", "200", "1000"};
/* Without linearise and greedy a race takes a question. */
static const char *const steps[] = {"filter,cone,linearise,eliminate,greedy,saturate,explore",
                                    "filter,cone,saturate", "filter,cone,eliminate,explore"};
static const char *const sizes[] = {"6", "8", "12", "20"};

typedef struct examination {
    uint64_t races, later, unknown;
} examination;

typedef struct places {
    uint32_t one, two;
} places;

static places places_of(const mr_trace *trace, uint32_t first, uint32_t second)
{
    uint32_t x = trace->location[first], y = trace->location[second];
    return (places){x < y ? x : y, x < y ? y : x};
}

static bool is_unknown(const mr_trace *trace, const mr_result *result, places wanted)
{
    for (size_t i = 0; i < result->unknown_count; i++) {
        places open = places_of(trace, result->unknowns[i].first, result->unknowns[i].second);
        if (open.one == wanted.one && open.two == wanted.two)
            return true;
    }
    return false;
}

static bool has_race(const mr_trace *trace, const mr_result *result, places wanted)
{
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_witness *witness = &result->races[i].witness;
        places found = places_of(trace, witness->first, witness->second);
        if (found.one == wanted.one && found.two == wanted.two)
            return true;
    }
    return false;
}

static mr_result predict(mr_trial *trial, mr_random random, const char *defer, const char *jobs,
                         char **report)
{
    const char *const settings[] = {"model",
                                    mr_model_name((mr_model)mr_random_below(&random, 3)),
                                    "window.size",
                                    sizes[mr_random_below(&random, 4)],
                                    "window.far_work",
                                    works[mr_random_below(&random, 5)],
                                    "solver.steps",
                                    steps[mr_random_below(&random, 3)],
                                    "solver.saturate_steps",
                                    mr_random_percent(&random, 50) ? "50000000" : "30",
                                    "candidates.max_unanswered",
                                    mr_random_percent(&random, 50) ? "4" : "1",
                                    "find",
                                    "races",
                                    "report.run",
                                    "false",
                                    "candidates.defer",
                                    defer,
                                    "jobs",
                                    jobs,
                                    NULL};
    mr_config *config = mr_settings_of(settings);
    mr_result result = mr_predicted(trial->trace, config);
    *report = mr_predicted_report(trial->trace, config, &result);
    mr_config_free(config);
    return result;
}

/* Of the unknowns only their number of pairs of places can be compared: another question may stand for a pair. */
static void compare(examination *x, mr_trial *trial, const mr_result *once, const mr_result *left)
{
    const mr_trace *trace = trial->trace;
    for (size_t i = 0; i < once->race_count; i++) {
        const mr_witness *witness = &once->races[i].witness;
        if (once->races[i].confirmed_by != MR_STEP_FAR &&
            !has_race(trace, left, places_of(trace, witness->first, witness->second)))
            mr_trial_wrong(
                trial, "the race of %" PRIu32 " and %" PRIu32 " is %s", witness->first,
                witness->second,
                is_unknown(trace, left, places_of(trace, witness->first, witness->second))
                    ? "unknown"
                    : "lost");
    }
    for (size_t i = 0; i < left->unknown_count; i++) {
        const mr_unknown *unknown = &left->unknowns[i];
        if (has_race(trace, left, places_of(trace, unknown->first, unknown->second)))
            mr_trial_wrong(trial, "a race is unknown, too");
    }
    x->races += left->race_count;
    x->unknown += left->unknown_count;
}

static void examine(mr_trial *trial, void *context)
{
    examination *x = context;
    const mr_random random = {trial->choice};
    char *reports[3];
    mr_result once = predict(trial, random, "0", "1", &reports[0]);
    mr_result left = predict(trial, random, "1", "1", &reports[1]);
    mr_result again = predict(trial, random, "1", "3", &reports[2]);
    mr_predicted_check(trial->trace, &left);
    compare(x, trial, &once, &left);
    x->later += left.stats.races[MR_STEP_SATURATE] + left.stats.races[MR_STEP_EXPLORE];
    if (strcmp(reports[1], reports[2]) != 0)
        mr_trial_wrong(trial, "three threads report something else than one");
    for (int i = 0; i < 3; i++)
        free(reports[i]);
    mr_result_free(&once);
    mr_result_free(&left);
    mr_result_free(&again);
}

static void no_race_is_lost(void **state)
{
    (void)state;
    const mr_trials trials = {.prefix = "DEFERRED",
                              .traces = DEFAULT_TRACES,
                              .share = SHARE_TRACES,
                              .seed = DEFAULT_SEED,
                              .longer = true};
    examination x = {0};
    uint64_t traces = mr_trials_run(&trials, examine, &x);
    print_message("%" PRIu64 " races, %" PRIu64 " of them by questions that were left, %" PRIu64
                  " unknown\n",
                  x.races, x.later, x.unknown);
    if (traces >= SHARE_TRACES)
        assert_true(x.races > traces && x.later > traces / 100 && x.unknown > traces / 100);
}

/* A pair of places that the search for far races asked about in vain: windows ask about it anew. */
static void unanswered_questions_count_anew(void **state)
{
    (void)state;
    const mr_trials trials = {.prefix = "DEFERRED_ANEW",
                              .traces = 1,
                              .seed = 598614933,
                              .shape = "mixed",
                              .longer = true};
    examination x = {0};
    mr_trials_run(&trials, examine, &x);
    assert_true(x.races > 0);
}

/* ---- what is left ---- */

/* In the order in which windows are merged: keys, window. */
static mr_deferred leave(const uint32_t (*left)[3], size_t count)
{
    mr_deferred deferred = {0};
    for (size_t i = 0; i < count; i++)
        assert_true(mr_deferred_add(&deferred, left[i][0], left[i][1], left[i][2]));
    return deferred;
}

/* A window asks about the pairs of places that it has left itself. Its other pairs have their verdicts, and would count twice. */
static void a_window_asks_what_it_left(void **state)
{
    static const uint32_t left[][3] = {{2, 3, 1}, {1, 2, 1}, {1, 2, 4}, {4, 4, 4}};
    mr_deferred deferred = leave(left, sizeof left / sizeof *left);
    mr_wanted pairs = {0};
    mr_trace trace = {0};
    (void)state;
    trace.locations.count = 5;
    assert_true(mr_deferred_list(&deferred, &trace, &pairs));
    assert_int_equal(deferred.window_count, 2);
    assert_int_equal(mr_deferred_window(&deferred, 0), 1);
    assert_int_equal(mr_deferred_window(&deferred, 1), 4);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        const uint32_t *it = left[i];
        assert_true(mr_wanted_pair(&pairs, it[0], it[1]));
        assert_true(mr_deferred_has(&deferred, it[2], it[0], it[1]));
        assert_true(mr_deferred_has(&deferred, it[2], it[1], it[0]));
    }
    assert_false(mr_deferred_has(&deferred, 4, 2, 3));
    assert_false(mr_deferred_has(&deferred, 1, 4, 4));
    assert_false(mr_deferred_has(&deferred, 2, 1, 2));
    mr_wanted_free(&pairs);
    mr_deferred_free(&deferred);
}

/* mr_deferred_test */
static bool is_low(const void *context, uint32_t key_1, uint32_t key_2)
{
    (void)key_1;
    return key_2 < *(const uint32_t *)context;
}

/* When a run is ended, the windows with open questions count as not looked at, but not those of which another
 * window has proven all that they have left. */
static void settled_pairs_leave_no_window_open(void **state)
{
    static const uint32_t left[][3] = {{1, 2, 1}, {1, 3, 1}, {1, 2, 2}, {1, 2, 7}, {1, 4, 7}};
    mr_deferred deferred = leave(left, sizeof left / sizeof *left);
    mr_wanted pairs = {0};
    mr_trace trace = {0};
    static const uint32_t expected[][2] = {{0, 3}, {3, 2}, {4, 1}, {5, 0}};
    (void)state;
    trace.locations.count = 5;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(mr_deferred_windows(&deferred, is_low, &expected[i][0]), expected[i][1]);
    assert_true(mr_deferred_list(&deferred, &trace, &pairs));
    mr_deferred_count_asked(&deferred, 0);
    assert_int_equal(mr_deferred_windows(&deferred, is_low, &expected[0][0]), 2);
    mr_deferred_count_asked(&deferred, 2);
    assert_int_equal(mr_deferred_windows(&deferred, is_low, &expected[0][0]), 1);
    mr_wanted_free(&pairs);
    mr_deferred_free(&deferred);
}

/* When the questions that were left are being asked, none can be left again: the window is asked once more. So it is when who decided a
 * window left questions, and who merges does not. */
static void nothing_is_left_twice(void **state)
{
    (void)state;
    mr_pair_verdict verdict = {.key_1 = 1, .key_2 = 2, .pairs = 1, .deferred = true};
    const mr_outcome outcome = {.verdicts = &verdict, .count = 1};
    for (unsigned i = 0; i < 4; i++) {
        const mr_predict_settings settings = {.defers = i % 2};
        const mr_merge merge = {.settings = &settings};
        verdict.asked = i / 2;
        assert_int_equal(mr_merge_is_complete(&merge, &outcome), settings.defers);
    }
}

/* A window that its budget has stopped twice is one window. */
static void a_window_is_stopped_once(void **state)
{
    (void)state;
    mr_result result = {0};
    mr_error error = {0};
    mr_predict_settings settings = {.plan = {.event_count = 100, .size = 10, .overlap = 5},
                                    .max_window_steps = 5,
                                    .defers = true};
    mr_merge merge = {.settings = &settings, .result = &result};
    for (uint64_t unit = 2; unit < 5; unit++) {
        mr_pair_verdict verdict = {
            .key_1 = 1, .key_2 = 2, .pairs = 1, .steps_in_order = unit == 3 ? 0 : 9};
        mr_outcome outcome = {.unit = unit, .verdicts = &verdict, .count = 1};
        verdict.asked = verdict.deferred = unit == 3;
        assert_int_equal(mr_merge_window(&merge, &outcome, &error), MR_OK);
    }
    assert_int_equal(result.stats.windows_stopped, 2);
    settings.defers = false;
    for (uint64_t unit = 2; unit < 5; unit++) {
        mr_pair_verdict verdict = {.key_1 = 1, .key_2 = 2, .pairs = 1, .steps_in_order = 9};
        mr_outcome outcome = {.unit = unit, .verdicts = &verdict, .count = 1};
        assert_int_equal(mr_merge_deferred(&merge, &outcome, &error), MR_OK);
    }
    assert_int_equal(result.stats.windows_stopped, 3);
    assert_int_equal(result.stats.windows, 3);
    mr_ledger_free(&merge.ledger);
    mr_deferred_free(&merge.deferred);
    mr_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_race_is_lost),
        cmocka_unit_test(unanswered_questions_count_anew),
        cmocka_unit_test(a_window_asks_what_it_left),
        cmocka_unit_test(settled_pairs_leave_no_window_open),
        cmocka_unit_test(nothing_is_left_twice),
        cmocka_unit_test(a_window_is_stopped_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
