/*
 * No limit changes a verdict: random settings, some of them far too small, on random traces with all kinds of
 * operations, in windows and beyond them, against exhaustive search. A race is one, and two places without a race
 * that are not unknown have none. Some runs are asked to end at a moment by chance.
 *
 *   VERDICTS_TRACES, VERDICTS_SEED, VERDICTS_SHAPE choose other traces (support/trials.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/predict.h"
#include "support/predicted.h"
#include "support/random.h"
#include "support/trials.h"
#include "support/yardstick.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_TRACES = 25000, SHARE_TRACES = 1500, DEFAULT_SEED = 20261126 };

static const mr_test_windows plans[] = {{0, 0}, {6, 3}, {5, 0}, {8, 4}, {10, 2}};

/* Of each key one of its values, which stand in turn in a text; an empty one: the default. */
typedef struct choice {
    const char *key, *values;
} choice;

static const choice choices[] = {
    {"solver.saturate_steps", "||0|1|10|200|3000|100000"},
    {"solver.rlimit", "||100|20000"},
    {"solver.max_clauses", "|||3|20"},
    {"window.far_race_work", "||0|1|20|60|200|1000|4000"},
    {"window.far_work", "||||1|100|500|2000"},
    {"window.far_size", "|||0|7|12"},
    {"candidates.max_unanswered", "||0|1|2"},
    {"candidates.max_window_steps", "||||1|30|300"},
    {"candidates.crowded", "||0|1|2"},
    {"candidates.defer", "0|1|1"},
    {"memory.limit_mb", "||||||||||1"},
    {"witness.minimise", "true|false"},
    {"jobs", "1|1|1|1|1|2|3"},
    {"candidates.far", "all|all|all|syncp|none|none|wcp"},
};
enum { CHOICES = sizeof choices / sizeof *choices, VALUE_BYTES = 128 };

typedef struct settings {
    mr_model model;
    mr_test_windows plan;
    char steps[VALUE_BYTES];
    char values[CHOICES][VALUE_BYTES];
} settings;

typedef struct examination {
    mr_trial *trial;
    settings settings;
    uint64_t races, unknown, without, ended;
} examination;

/* A run that is asked to end when it has said so many debug lines. */
typedef struct ending {
    atomic_uint lines;
    uint32_t last;
    mr_halt halt;
} ending;

/* mr_debug.write */
static void count_line(void *context, const char *line)
{
    ending *e = context;
    (void)line;
    if (atomic_fetch_add(&e->lines, 1) == e->last)
        mr_halt_ask(&e->halt, MR_HALT_SIGNAL);
}

/* ---- settings by chance ---- */

static void draw_value(mr_random *random, const char *values, char *value)
{
    uint32_t count = 1;
    for (const char *at = values; *at; at++)
        count += *at == '|';
    for (uint32_t skip = mr_random_below(random, count); skip; skip--)
        values = strchr(values, '|') + 1;
    snprintf(value, VALUE_BYTES, "%.*s", (int)strcspn(values, "|"), values);
}

/* Most steps, or few of them. */
static void draw_steps(mr_random *random, char *steps)
{
    uint32_t percent = mr_random_percent(random, 50) ? 85 : 40;
    steps[0] = '\0';
    for (int step = 0; step <= MR_STEP_Z3; step++)
        if (mr_random_percent(random, percent))
            sprintf(steps + strlen(steps), "%s%s", steps[0] ? "," : "",
                    mr_step_name((mr_step)step));
    if (!steps[0])
        strcpy(steps, "filter");
}

static void draw(mr_random *random, settings *s)
{
    s->model = (mr_model)mr_random_below(random, MR_MODEL_BRANCH + 1);
    s->plan = plans[mr_random_below(random, sizeof plans / sizeof *plans)];
    draw_steps(random, s->steps);
    for (size_t i = 0; i < CHOICES; i++)
        draw_value(random, choices[i].values, s->values[i]);
}

static mr_config *configure(const settings *s)
{
    char size[16], overlap[16];
    const char *const all[] = {
        "model", mr_model_name(s->model), "window.size", size,   "window.overlap",
        overlap, "solver.steps",          s->steps,      "find", "races",
        NULL};
    snprintf(size, sizeof size, "%" PRIu32, s->plan.size);
    snprintf(overlap, sizeof overlap, "%" PRIu32, s->plan.overlap);
    mr_config *config = mr_settings_of(all);
    for (size_t i = 0; i < CHOICES; i++)
        if (s->values[i][0])
            mr_settings_set(config, choices[i].key, s->values[i]);
    return config;
}

static const char *value_of(const settings *s, const char *key)
{
    for (size_t i = 0; i < CHOICES; i++)
        if (strcmp(choices[i].key, key) == 0)
            return s->values[i];
    return "";
}

/* ---- verdicts ---- */

static void wrong(examination *x, const char *what, uint32_t first, uint32_t second)
{
    char text[1200];
    const settings *s = &x->settings;
    int length =
        snprintf(text, sizeof text,
                 "model=%s window.size=%" PRIu32 " window.overlap=%" PRIu32 " solver.steps=%s",
                 mr_model_name(s->model), s->plan.size, s->plan.overlap, s->steps);
    for (size_t i = 0; i < CHOICES; i++)
        if (s->values[i][0])
            length += snprintf(text + length, sizeof text - (size_t)length, " %s=%s",
                               choices[i].key, s->values[i]);
    mr_trial_wrong(x->trial, "%s: %" PRIu32 " and %" PRIu32 " %s", text, first, second, what);
}

/* Each race is one, and has a witness. */
static void check_races(examination *x, const mr_result *result, const mr_pair_set *whole)
{
    const mr_trace *trace = x->trial->trace;
    mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
    mr_error error = {0};
    assert_non_null(checker);
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_witness *w = &result->races[i].witness;
        if (w->kind != MR_WITNESS_RACE)
            break;
        if (mr_checker_check(checker, w, &error) != MR_OK)
            wrong(x, error.text, w->first, w->second);
        if (!whole->has[w->first][w->second])
            wrong(x, "are told, and are no race", w->first, w->second);
        x->races++;
    }
    mr_checker_free(checker);
}

/* Each pair of places with a race in scope is told, or unknown. */
static void check_rest(examination *x, const mr_result *result, const mr_pair_set *scope)
{
    const mr_trace *trace = x->trial->trace;
    mr_pair_set told = {0};
    for (size_t i = 0; i < result->race_count; i++)
        mr_add_static_pair(&told, trace, result->races[i].witness.first,
                           result->races[i].witness.second);
    for (size_t i = 0; i < result->unknown_count; i++)
        mr_add_static_pair(&told, trace, result->unknowns[i].first, result->unknowns[i].second);
    mr_pair_set right = mr_static_pairs(trace, scope);
    for (uint32_t a = 0; a < MR_YARDSTICK_EVENTS; a++)
        for (uint32_t b = 0; b < MR_YARDSTICK_EVENTS; b++)
            if (right.has[a][b] && !told.has[a][b])
                wrong(x, "(places) race, and are said not to", a, b);
    x->unknown += result->unknown_count;
    x->without += !result->unknown_count;
}

static void examine(mr_trial *trial, void *context)
{
    examination *x = context;
    mr_random random = {trial->choice};
    mr_pair_set whole, near;
    mr_result result = {0};
    mr_error error = {0};
    x->trial = trial;
    draw(&random, &x->settings);
    const settings *s = &x->settings;
    bool all =
        strcmp(value_of(s, "candidates.far"), "all") == 0 && !*value_of(s, "window.far_size");
    assert_true(mr_right_races(trial->trace, s->model, plans[0], &whole));
    assert_true(mr_right_races(trial->trace, s->model, s->plan, &near));
    mr_config *config = configure(s);
    bool ends = mr_random_percent(&random, 20);
    ending e = {.last = ends ? mr_random_below(&random, 1u << mr_random_below(&random, 10))
                             : UINT32_MAX};
    const mr_debug debug = {.topics = UINT32_MAX, .write = count_line, .context = &e};
    const mr_predict_run run = {.debug = ends ? &debug : NULL, .halt = ends ? &e.halt : NULL};
    if (mr_predict(trial->trace, config, &run, &result, &error) != MR_OK)
        mr_trial_wrong(trial, "error: %s", error.text);
    check_races(x, &result, &whole);
    x->ended += result.stats.incomplete;
    if (!result.stats.incomplete)
        check_rest(x, &result, all ? &whole : &near);
    mr_result_free(&result);
    mr_config_free(config);
}

static void no_limit_changes_a_verdict(void **state)
{
    (void)state;
    const mr_trials trials = {.prefix = "VERDICTS",
                              .traces = DEFAULT_TRACES,
                              .share = SHARE_TRACES,
                              .seed = DEFAULT_SEED,
                              .all_kinds = true};
    examination x = {0};
    uint64_t traces = mr_trials_run(&trials, examine, &x);
    print_message("%" PRIu64 " races, %" PRIu64 " unknown, nothing unknown in %" PRIu64
                  " traces, %" PRIu64 " runs ended\n",
                  x.races, x.unknown, x.without, x.ended);
    if (traces >= SHARE_TRACES)
        assert_true(x.races > traces && x.ended > traces / 50 && x.unknown > traces / 50 &&
                    x.without > traces / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_limit_changes_a_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
