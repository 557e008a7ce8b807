/*
 * What is found of far races does not depend on who asks, or when: any number of threads gives the
 * report of one, byte for byte, also when budgets cut off much of what the threads have asked.
 *
 * FAR_JOBS_SEED in the environment chooses other traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/predict.h"
#include "report/report.h"
#include "support/generate_far.h"
#include "support/generate_large.h"
#include "support/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is asked of a trace: keys and values. The small numbers make budgets end inside a unit,
 * inside a phase, and at every phase. */
static const char *const questions[][13] = {
    {"model", "value"},
    {"model", "rf"},
    {"model", "branch", "window.far_work", "20000"},
    {"model", "value", "candidates.far", "wcp"},
    {"model", "value", "window.far_size", "400"},
    {"model", "value", "window.far_work", "1"},
    {"model", "value", "window.far_work", "300"},
    {"model", "value", "window.far_work", "3000", "window.far_race_work", "700"},
    {"model", "value", "window.far_work", "9000"},
    {"model", "value", "window.far_work", "30000", "solver.saturate_steps", "40"},
    {"model", "value", "window.far_race_work", "500"},
    {"model", "value", "window.far_race_work", "0", "window.far_work", "100000",
     "candidates.max_unanswered", "1", "solver.saturate_steps", "100", "solver.steps",
     "filter,cone,saturate"},
    {"model", "value", "window.far_race_work", "0", "window.far_work", "0",
     "candidates.max_unanswered", "3", "solver.saturate_steps", "200", "solver.steps",
     "filter,cone,saturate"},
};

enum { QUESTIONS = sizeof questions / sizeof *questions };

/* What the budgets have cut off, over all traces: without it, this test says little. */
typedef struct cut_off {
    uint64_t races, no_races, unknown;
} cut_off;

static void set(mr_config *config, const char *key, const char *value)
{
    mr_error error;
    if (mr_config_set(config, key, value, NULL, 0, &error) != MR_OK)
        fail_msg("%s", error.text);
}

static mr_config *configure(const char *const *question, const char *size, unsigned jobs)
{
    char text[16];
    mr_config *config = mr_config_new();
    assert_non_null(config);
    snprintf(text, sizeof text, "%u", jobs);
    set(config, "jobs", text);
    set(config, "report.run", "false");
    set(config, "window.size", size);
    set(config, "solver.steps", "filter,cone,linearise,eliminate,greedy,saturate");
    for (; *question; question += 2)
        set(config, question[0], question[1]);
    return config;
}

/* The report; owned by the caller. */
static char *predict(const mr_trace *trace, const char *const *question, const char *size,
                     unsigned jobs, cut_off *tally)
{
    mr_config *config = configure(question, size, jobs);
    mr_result result = {0};
    mr_error error = {0};
    char *text = NULL;
    size_t length = 0;
    if (mr_predict(trace, config, NULL, &result, &error) != MR_OK)
        fail_msg("%s", error.text);
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    if (mr_report_json(stream, trace, config, &result, &error) != MR_OK)
        fail_msg("%s", error.text);
    fclose(stream);
    tally->races += result.stats.races[MR_STEP_FAR];
    tally->no_races += result.stats.far_no_race;
    tally->unknown += result.stats.far_unknown;
    mr_result_free(&result);
    mr_config_free(config);
    return text;
}

static void compare(const mr_trace *trace, const char *const *question, const char *size,
                    cut_off *tally)
{
    static const unsigned jobs[] = {2, 3, 8};
    cut_off ignored = {0};
    char *expected = predict(trace, question, size, 1, tally);
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        char *found = predict(trace, question, size, jobs[j], &ignored);
        size_t at = 0;
        while (expected[at] && expected[at] == found[at])
            at++;
        if (expected[at] || found[at])
            fail_msg("%u jobs, window.size %s, %s %s …: differs from one at byte %zu: %.300s\n"
                     "---- one: %.300s",
                     jobs[j], size, question[0], question[1], at, found + at, expected + at);
        free(found);
    }
    free(expected);
}

static uint64_t seed_from_environment(void)
{
    const char *text = getenv("FAR_JOBS_SEED");
    return text ? strtoull(text, NULL, 10) : 20261121;
}

/* Plants of all kinds at many distances, close together in time, so that they share windows. */
static void test_planted(void **state)
{
    (void)state;
    enum { PLANTS = 40, EVENTS = 8000 };
    static mr_plant plants[PLANTS];
    uint64_t seed = seed_from_environment();
    cut_off tally = {0};
    for (uint32_t i = 0; i < PLANTS; i++) {
        uint32_t distance = 150u << i % 6, first = 60 + 71 * i;
        plants[i] = (mr_plant){(mr_plant_kind)(i % MR_PLANT_KINDS), first, first + distance};
    }
    char *text = mr_generate_far(seed, EVENTS, plants, PLANTS);
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    for (size_t q = 0; q < QUESTIONS; q++)
        compare(trace, questions[q], "100", &tally);
    print_message("planted: %" PRIu64 " races, %" PRIu64 " no races, %" PRIu64 " unknown\n",
                  tally.races, tally.no_races, tally.unknown);
    assert_true(tally.races > 100 && tally.unknown > 20);
    mr_trace_free(trace);
    free(text);
}

/* Locks, few values and messages, mixed by chance: many static races that need formulas, or whose
 * questions have no answer. */
static void test_random(void **state)
{
    (void)state;
    enum { TRACES = 12, EVENTS = 600 };
    uint64_t seed = seed_from_environment();
    cut_off tally = {0};
    for (uint64_t i = 0; i < TRACES; i++) {
        char *text =
            mr_generate_large(seed + i, &mr_large_shapes[i % mr_large_shape_count], EVENTS);
        assert_non_null(text);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        for (size_t q = 0; q < QUESTIONS; q++)
            compare(trace, questions[q], "20", &tally);
        mr_trace_free(trace);
        free(text);
    }
    print_message("random: %" PRIu64 " races, %" PRIu64 " no races, %" PRIu64 " unknown\n",
                  tally.races, tally.no_races, tally.unknown);
    assert_true(tally.races > 100 && tally.no_races > 100 && tally.unknown > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
