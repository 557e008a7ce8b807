/*
 * What is found of far races does not depend on who asks, or when: any number of threads gives the
 * report of one, byte for byte, also when budgets cut off much of what the threads have asked. And
 * a run that is halted on the way claims nothing that it has not seen.
 *
 * FAR_JOBS_SEED and FAR_JOBS_TRACES in the environment choose other random traces; with
 * FAR_JOBS_THREADS only this number of threads is compared with one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/generate_far.h"
#include "support/generate_large.h"
#include "support/length.h"
#include "support/predicted.h"
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
    {"model", "value", "window.far_work", "300", "candidates.defer", "1"},
    {"model", "rf", "window.far_work", "30000", "solver.saturate_steps", "40", "candidates.defer",
     "1"},
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

static mr_config *configure(const char *const *question, const char *size, unsigned jobs)
{
    char text[16];
    mr_config *config = mr_settings_of(question);
    snprintf(text, sizeof text, "%u", jobs);
    mr_settings_set(config, "jobs", text);
    mr_settings_set(config, "report.run", "false");
    mr_settings_set(config, "window.size", size);
    return config;
}

/* The report; owned by the caller. */
static char *predict(const mr_trace *trace, const char *const *question, const char *size,
                     unsigned jobs, cut_off *tally)
{
    mr_config *config = configure(question, size, jobs);
    mr_result result = mr_predicted(trace, config);
    char *text = mr_predicted_report(trace, config, &result);
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
    uint64_t only = mr_number_from_environment("FAR_JOBS_THREADS", mr_length_few() ? 3 : 0);
    char *expected = predict(trace, question, size, 1, tally);
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        if (only && jobs[j] != only)
            continue;
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

enum { DEFAULT_SEED = 20261121, DEFAULT_TRACES = 6, SHARE_TRACES = 2 };

/* Plants of all kinds at many distances, close together in time, so that they share windows. */
static void test_planted(void **state)
{
    (void)state;
    enum { PLANTS = 40, EVENTS = 8000 };
    static mr_plant plants[PLANTS];
    uint64_t seed = mr_number_from_environment("FAR_JOBS_SEED", DEFAULT_SEED);
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
    enum { EVENTS = 600 };
    uint64_t count = mr_length("FAR_JOBS_TRACES", SHARE_TRACES, DEFAULT_TRACES);
    uint64_t seed = mr_number_from_environment("FAR_JOBS_SEED", DEFAULT_SEED);
    cut_off tally = {0};
    for (uint64_t i = 0; i < count; i++) {
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
    assert_true(count < SHARE_TRACES ||
                (tally.races > 100 && tally.no_races > 10 && tally.unknown > 100));
}

/* ---- halted runs ---- */

/* Asks for the end when it is told for the n-th time about far races. */
typedef struct halting {
    mr_halt halt;
    unsigned left;
} halting;

static void count_down(void *context, const char *stage, uint64_t done, uint64_t total)
{
    halting *self = context;
    (void)done;
    (void)total;
    if (!strcmp(stage, "far races") && self->left && !--self->left)
        mr_halt_ask(&self->halt, MR_HALT_TIME);
}

static mr_result run(const mr_trace *trace, const char *far, unsigned jobs, halting *until)
{
    const char *const question[] = {"candidates.far",
                                    far,
                                    "solver.steps",
                                    "filter,cone,saturate",
                                    "solver.saturate_steps",
                                    "300",
                                    NULL};
    mr_config *config = configure(question, "100", jobs);
    const mr_progress progress = {.report = count_down, .context = until};
    const mr_predict_run run = {.progress = &progress, .halt = &until->halt};
    mr_result result = {0};
    mr_error error = {0};
    if (mr_predict(trace, config, &run, &result, &error) != MR_OK)
        fail_msg("%s", error.text);
    mr_config_free(config);
    return result;
}

static bool same_locations(const mr_trace *trace, uint32_t first, uint32_t second, uint32_t one,
                           uint32_t two)
{
    const uint32_t *at = trace->location;
    return (at[first] == at[one] && at[second] == at[two]) ||
           (at[first] == at[two] && at[second] == at[one]);
}

static bool has_race(const mr_trace *trace, const mr_result *result, uint32_t one, uint32_t two)
{
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_witness *witness = &result->races[i].witness;
        if (same_locations(trace, witness->first, witness->second, one, two))
            return true;
    }
    return false;
}

static bool has_unknown(const mr_trace *trace, const mr_result *result, uint32_t one, uint32_t two)
{
    for (size_t i = 0; i < result->unknown_count; i++)
        if (same_locations(trace, result->unknowns[i].first, result->unknowns[i].second, one, two))
            return true;
    return false;
}

/* What a halted run reports is a race of the whole run, and what the windows have left unknown is
 * still unknown, unless it is a race. True: it was halted on the way. */
static bool check_halted(const mr_trace *trace, const mr_result *windows, const mr_result *whole,
                         unsigned when)
{
    halting until = {.left = when};
    mr_result result = run(trace, "all", 1 + when % 3, &until);
    bool halted = mr_halt_asked(&until.halt) != MR_HALT_NONE;
    for (size_t i = 0; i < result.race_count; i++) {
        const mr_witness *witness = &result.races[i].witness;
        if (!has_race(trace, whole, witness->first, witness->second))
            fail_msg("halted at %u: not a race of the whole run", when);
    }
    for (size_t i = 0; halted && i < windows->unknown_count; i++) {
        uint32_t one = windows->unknowns[i].first, two = windows->unknowns[i].second;
        if (!has_race(trace, &result, one, two) && !has_unknown(trace, &result, one, two))
            fail_msg("halted at %u: an unknown pair of the windows is lost", when);
    }
    mr_result_free(&result);
    return halted;
}

static void test_halted(void **state)
{
    (void)state;
    size_t unknown = 0, settled = 0;
    uint64_t count = (mr_length("FAR_JOBS_TRACES", SHARE_TRACES, DEFAULT_TRACES) + 1) / 2;
    for (uint64_t i = 0; i < count; i++) {
        halting never = {0};
        char *text =
            mr_generate_large(mr_number_from_environment("FAR_JOBS_SEED", DEFAULT_SEED) + i,
                              &mr_large_shapes[2 + i % 4], 600);
        assert_non_null(text);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        mr_result windows = run(trace, "none", 1, &never), whole = run(trace, "all", 1, &never);
        unknown += windows.unknown_count;
        for (size_t k = 0; k < windows.unknown_count; k++)
            settled +=
                !has_unknown(trace, &whole, windows.unknowns[k].first, windows.unknowns[k].second);
        for (unsigned when = 1; check_halted(trace, &windows, &whole, when); when += 1 + when / 4)
            ;
        mr_result_free(&windows);
        mr_result_free(&whole);
        mr_trace_free(trace);
        free(text);
    }
    print_message("of %zu unknown in windows, %zu settled by far windows\n", unknown, settled);
    assert_true(settled > 10 * count / (DEFAULT_TRACES / 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_halted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
