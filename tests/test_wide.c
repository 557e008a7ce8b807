/*
 * wide: traces of more than 32 threads at a time, whose windows leave all questions until the states of each two threads have been searched
 * (predict/deferred.h), and the search beside the windows (far/ahead.h). The verdicts are those of windows that ask at once, the report is
 * that of one thread, also when budgets cut off much, and a run that is halted on the way claims nothing that it has not seen.
 *
 * WIDE_SEED and WIDE_TRACES in the environment choose other random traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/hard.h"
#include "support/length.h"
#include "support/predicted.h"
#include "support/sample.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SEED = 20261128, DEFAULT_TRACES = 12, SHARE_TRACES = 3 };

static mr_trace *make(uint64_t seed)
{
    const uint64_t events = mr_length_few() ? 1900 : 3000;
    const mr_hard_shape shape = {.family = MR_HARD_WIDE,
                                 .events = events,
                                 .threads = (uint32_t)(36 + seed % 8),
                                 .values = (uint32_t)(3 + seed % 2),
                                 .seed = seed};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(mr_hard_write(&shape, out));
    assert_int_equal(fclose(out), 0);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    free(text);
    return trace;
}

/* Counts the windows that are asked later, and asks for the end when it has been told so much. Several threads tell it. */
typedef struct listener {
    mr_halt halt;
    unsigned halts_at; /* 0: it does not */
    atomic_uint lines, questions;
} listener;

/* mr_debug.write */
static void listen(void *context, const char *line)
{
    listener *self = context;
    if (strstr(line, "stage=questions") && strstr(line, "decided_by"))
        atomic_fetch_add(&self->questions, 1);
    if (atomic_fetch_add(&self->lines, 1) + 1 == self->halts_at)
        mr_halt_ask(&self->halt, MR_HALT_TIME);
}

static mr_config *configure(const char *const *question, unsigned jobs)
{
    char text[16];
    mr_config *config = mr_settings_of(question);
    snprintf(text, sizeof text, "%u", jobs);
    mr_settings_set(config, "jobs", text);
    mr_settings_set(config, "report.run", "false");
    mr_settings_set(config, "window.size", "500");
    return config;
}

static mr_result run(const mr_trace *trace, const mr_config *config, listener *told)
{
    const mr_debug debug = {1u << MR_DEBUG_DISPATCH | 1u << MR_DEBUG_SEARCH | 1u << MR_DEBUG_FAR,
                            listen, told};
    const mr_predict_run run = {.debug = &debug, .halt = &told->halt};
    mr_result result = {0};
    mr_error error = {0};
    if (mr_predict(trace, config, &run, &result, &error) != MR_OK)
        fail_msg("%s", error.text);
    mr_predicted_check(trace, &result);
    return result;
}

static bool has_race(const mr_trace *trace, const mr_result *result, const mr_witness *wanted)
{
    const uint32_t *at = trace->location;
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_witness *it = &result->races[i].witness;
        if ((at[it->first] == at[wanted->first] && at[it->second] == at[wanted->second]) ||
            (at[it->first] == at[wanted->second] && at[it->second] == at[wanted->first]))
            return true;
    }
    return false;
}

static void all_are_races(const mr_trace *trace, const mr_result *some, const mr_result *all,
                          const char *what)
{
    for (size_t i = 0; i < some->race_count; i++)
        if (!has_race(trace, all, &some->races[i].witness))
            fail_msg("%s: %u %u is no race otherwise", what, some->races[i].witness.first,
                     some->races[i].witness.second);
}

/* Windows that ask at once say the same. Returns how often a window was asked later. */
static unsigned compare_verdicts(const mr_trace *trace, const char *model, const char *steps)
{
    const char *const later[] = {"model", model, "solver.steps", steps, NULL};
    const char *const at_once[] = {"model", model, "solver.steps", steps, "candidates.defer",
                                   "0",     NULL};
    listener told[2] = {0};
    mr_config *configs[] = {configure(later, 2), configure(at_once, 2)};
    mr_result results[2];
    for (size_t i = 0; i < 2; i++)
        results[i] = run(trace, configs[i], &told[i]);
    assert_int_equal(results[0].unknown_count, 0);
    assert_int_equal(results[1].unknown_count, 0);
    assert_int_equal(atomic_load(&told[1].questions), 0);
    all_are_races(trace, &results[0], &results[1], "later");
    all_are_races(trace, &results[1], &results[0], "at once");
    for (size_t i = 0; i < 2; i++) {
        mr_result_free(&results[i]);
        mr_config_free(configs[i]);
    }
    return atomic_load(&told[0].questions);
}

static void compare_jobs(const mr_trace *trace, const char *const *question)
{
    char *expected = NULL;
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        listener told = {0};
        mr_config *config = configure(question, jobs);
        mr_result result = run(trace, config, &told);
        char *report = mr_predicted_report(trace, config, &result);
        mr_result_free(&result);
        mr_config_free(config);
        if (!expected) {
            expected = report;
            continue;
        }
        if (strcmp(expected, report) != 0)
            fail_msg("%s %s …: the report of %u threads differs from that of one", question[2],
                     question[3], jobs);
        free(report);
    }
    free(expected);
}

static void test_verdicts(void **state)
{
    (void)state;
    static const char *const questions[][7] = {
        {"model", "value", "window.far_work", "0"},
        {"model", "value", "window.far_work", "3000", "candidates.max_unanswered", "1"},
        {"model", "value", "solver.saturate_steps", "40", "solver.steps", "filter,cone,saturate"},
        {"model", "rf", "candidates.max_window_steps", "3000"},
    };
    enum { QUESTIONS = sizeof questions / sizeof *questions };
    /* Without explore no states are searched, and more is left to ask. */
    static const char *const steps[] = {"filter,cone,linearise,eliminate,greedy,saturate",
                                        "filter,cone,linearise,eliminate,greedy,explore,saturate"};
    const uint64_t seed = mr_number_from_environment("WIDE_SEED", DEFAULT_SEED);
    const uint64_t count = mr_length("WIDE_TRACES", SHARE_TRACES, DEFAULT_TRACES);
    unsigned asked = 0;
    for (uint64_t i = 0; i < count; i++) {
        mr_trace *trace = make(seed + i);
        asked += compare_verdicts(trace, i % 3 == 2 ? "rf" : "value", steps[i % 2]);
        compare_jobs(trace, questions[i % QUESTIONS]);
        mr_trace_free(trace);
    }
    print_message("%u windows were asked later\n", asked);
    assert_true(asked > 0);
}

/* Halted at many places, with two threads and the search ahead. */
static void test_halted(void **state)
{
    (void)state;
    const unsigned places = mr_length_few() ? 3 : 8;
    static const char *const question[] = {"model", "value", NULL};
    mr_trace *trace = make(DEFAULT_SEED);
    mr_config *config = configure(question, 2);
    listener whole_told = {0};
    mr_result whole = run(trace, config, &whole_told);
    const unsigned lines = atomic_load(&whole_told.lines);
    assert_true(lines > places);
    for (unsigned place = 0; place < places; place++) {
        listener told = {.halts_at = 1 + place * (lines / places)};
        mr_result result = run(trace, config, &told);
        bool halted = mr_halt_asked(&told.halt) != MR_HALT_NONE;
        all_are_races(trace, &result, &whole, "halted");
        if (halted && !result.stats.incomplete && result.race_count != whole.race_count)
            fail_msg("halted at line %u: races are missing, and it is said to be complete",
                     told.halts_at);
        mr_result_free(&result);
    }
    mr_result_free(&whole);
    mr_config_free(config);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts),
                                       cmocka_unit_test(test_halted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
