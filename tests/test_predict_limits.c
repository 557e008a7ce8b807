/*
 * Limits, for a whole prediction: what is undecided is reported with its reason and counted, unless
 * something else settles it; no memory, at any point, is an error and no more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/generate_large.h"
#include "support/predicted.h"
#include "support/sample.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static mr_result predict(const char *text, const char *const *settings)
{
    mr_config *config = mr_settings_of(settings);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mr_result result = mr_predicted(trace, config);
    mr_trace_free(trace);
    mr_config_free(config);
    return result;
}

/* Not to be had in trace order: the formula must say. */
#define NEEDS_FORMULA "A|acq(l)|9\nA|w(x)|1\nA|rel(l)|9\nB|acq(l)|9\nB|rel(l)|9\nB|w(x)|2\n"

static void test_unknown_is_reported(void **state)
{
    (void)state;
    static const char *const settings[] = {"solver.steps",
                                           "filter,cone,z3",
                                           "solver.max_clauses",
                                           "1",
                                           "candidates.far",
                                           "none",
                                           NULL};
    mr_result result = predict(NEEDS_FORMULA, settings);
    assert_int_equal(result.race_count, 0);
    assert_int_equal(result.unknown_count, 1);
    assert_int_equal(result.unknowns[0].reason, MR_UNKNOWN_SIZE);
    assert_int_equal(result.unknowns[0].first, 1);
    assert_int_equal(result.unknowns[0].second, 5);
    assert_int_equal(result.stats.unknown[MR_UNKNOWN_SIZE], 1);
    mr_result_free(&result);
}

static void test_later_race_removes_unknown(void **state)
{
    (void)state;
    static const char *const settings[] = {"solver.steps",
                                           "filter,cone,linearise,z3",
                                           "solver.max_clauses",
                                           "1",
                                           "candidates.far",
                                           "none",
                                           "window.size",
                                           "6",
                                           "window.overlap",
                                           "0",
                                           NULL};
    mr_result result = predict(NEEDS_FORMULA "A|w(x)|1\nB|w(x)|2\n", settings);
    assert_int_equal(result.unknown_count, 0);
    assert_int_equal(result.race_count, 1);
    assert_int_equal(result.races[0].witness.first, 6);
    assert_int_equal(result.stats.unknown[MR_UNKNOWN_SIZE], 1); /* it was one, of an event pair */
    mr_result_free(&result);
}

/* Two accesses of A against one of B. The first pair is a race that needs a formula; of the second,
 * both hold k. */
#define TWO_PAIRS                                                                                  \
    "A|acq(l)|9\nA|w(x)|1\nA|rel(l)|9\nA|acq(k)|9\nA|w(x)|1\nA|rel(k)|9\n"                         \
    "B|acq(l)|9\nB|rel(l)|9\nB|acq(k)|9\nB|w(x)|2\nB|rel(k)|9\n"

/* The number of unknown event pairs for each reason, and which one is reported. */
static void test_reasons_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *unanswered, *clauses;
        size_t races;
        mr_unknown_reason reason; /* when there is no race */
    } cases[] = {
        {"0", "0", 1, MR_UNKNOWN_COUNT}, {"1", "0", 1, MR_UNKNOWN_COUNT},
        {"0", "1", 0, MR_UNKNOWN_SIZE},  {"64", "1", 0, MR_UNKNOWN_SIZE},
        {"1", "1", 0, MR_UNKNOWN_SIZE},  {"2", "1", 0, MR_UNKNOWN_SIZE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const settings[] = {"candidates.max_unanswered",
                                        cases[i].unanswered,
                                        "solver.steps",
                                        "filter,cone,z3",
                                        "solver.max_clauses",
                                        cases[i].clauses,
                                        "candidates.far",
                                        "none",
                                        NULL};
        mr_result result = predict(TWO_PAIRS, settings);
        assert_int_equal(result.race_count, cases[i].races);
        assert_int_equal(result.unknown_count, 1 - cases[i].races);
        if (!cases[i].races)
            assert_int_equal(result.unknowns[0].reason, cases[i].reason);
        for (int reason = 0; reason < MR_UNKNOWN_COUNT; reason++)
            if (result.stats.unknown[reason] != (reason == (int)cases[i].reason))
                fail_msg("case %zu: %" PRIu64 " unknown by %s", i, result.stats.unknown[reason],
                         mr_unknown_reason_name((mr_unknown_reason)reason));
        mr_result_free(&result);
    }
}

/* Races in trace order are found whatever was spent; the rest is open. */
static void test_steps_of_a_window(void **state)
{
    (void)state;
    static const char text[] = "C|w(z)|5\nD|w(z)|6\n" NEEDS_FORMULA "C|w(u)|7\nD|w(u)|8\n";
    static const char *const reports[] = {"static", "event"};
    for (int i = 0; i < 4; i++) {
        const char *const settings[] = {"candidates.max_window_steps",
                                        i < 2 ? "1" : "0",
                                        "candidates.far",
                                        "none",
                                        "candidates.report",
                                        reports[i % 2],
                                        NULL};
        mr_result result = predict(text, settings);
        assert_int_equal(result.stats.windows_stopped, i < 2);
        assert_int_equal(result.race_count, i < 2 ? 2 : 3);
        assert_int_equal(result.unknown_count, i < 2);
        assert_int_equal(result.stats.unknown[MR_UNKNOWN_BUDGET], i < 2);
        if (i < 2) {
            assert_int_equal(result.unknowns[0].reason, MR_UNKNOWN_BUDGET);
            assert_string_equal(result.unknowns[0].detail, "candidates.max_window_steps");
        }
        mr_result_free(&result);
    }
}

/* Fails the n-th allocation and all later ones, for each n until none is left to fail. */
static void sweep(const char *text, const char *const *settings)
{
    mr_result full = predict(text, settings);
    size_t races = full.race_count;
    mr_result_free(&full);
    assert_true(races >= 2);
    mr_config *config = mr_settings_of(settings);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    size_t failures = 0;
    for (uint64_t fail_at = 1;; fail_at++) {
        mr_result result = {0};
        mr_error error = {0};
        mr_memory_fail_after(fail_at);
        mr_status status = mr_predict(trace, config, NULL, &result, &error);
        mr_memory_fail_after(0);
        assert_true(result.race_count <= races);
        if (status == MR_OK && result.race_count < races) /* the rest is said to be unknown */
            assert_true(result.unknown_count > 0);
        bool complete = status == MR_OK && !result.unknown_count;
        if (status != MR_OK) {
            assert_int_equal(status, MR_ERR_MEMORY);
            assert_int_equal(error.status, MR_ERR_MEMORY);
            assert_non_null(strstr(error.text, "memory"));
            failures++;
        }
        mr_result_free(&result);
        if (complete)
            break;
        assert_true(fail_at < 5000);
    }
    assert_true(failures > 20);
    mr_trace_free(trace);
    mr_config_free(config);
}

static void test_no_memory(void **state)
{
    (void)state;
    static const char trace[] = NEEDS_FORMULA "C|fork(D)|3\nC|w(y=1)|4\nD|r(y=1)|5\nD|w(y=2)|6\n"
                                              "C|join(D)|7\nA|w(z=1)|8\nB|w(z=2)|8\n";
    static const char *const saturate[] = {"window.size", "9", "window.overlap", "3", NULL};
    static const char *const z3[] = {"solver.steps", "filter,cone,z3", "candidates.report", "event",
                                     NULL};
    static const char *const lazy[] = {"solver.steps", "lazy", NULL};
    static const char *const eager[] = {"solver.strategy", "eager", NULL};
    static const char *const ignore[] = {"candidates.ignore_locations", "8,7", NULL};
    sweep(trace, saturate);
    sweep(trace, z3);
    sweep(trace, lazy);
    sweep(trace, eager);
    sweep(trace, ignore);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_is_reported),
        cmocka_unit_test(test_later_race_removes_unknown),
        cmocka_unit_test(test_reasons_are_counted),
        cmocka_unit_test(test_steps_of_a_window),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
