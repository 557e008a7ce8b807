/*
 * Is the prediction exact? Compared with exhaustive search on random traces with every kind of
 * operation: every event pair, in all models, without windows and with small ones; then static
 * pairs, far races and prefilters.
 *
 * EXACT_TRACES (default 6000), EXACT_SEED (default fixed) and EXACT_SHAPE in the environment choose
 * other traces (support/trials.h). A mismatch prints the line that runs its trace again, and the
 * trace made as short as possible.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/predict.h"
#include "support/predicted.h"
#include "support/trials.h"
#include "support/yardstick.h"
#include "trace/trace.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    DEFAULT_TRACES = 3000,
    SHARE_TRACES = 600,
    DEFAULT_SEED = 20180611,
    WINDOW_PLANS = 4,
    MODELS = MR_MODEL_BRANCH + 1,
};

static const mr_test_windows window_plans[WINDOW_PLANS] = {{0, 0}, {6, 3}, {5, 0}, {8, 4}};

/* Steps of saturation that decide every trace here. */
#define UNBOUNDED "1000000000"

/* In the place of steps: the other strategy. */
#define EAGER "eager"

/* The whole ladder. */
#define LADDER "filter,cone,linearise,eliminate,greedy,saturate,explore,lazy,z3"

/* What is asked of the predictor. */
typedef struct question {
    mr_model model;
    mr_test_windows plan;
    const char *prefilter, *report, *far, *steps, *saturate_steps;
    bool minimise;
} question;

/* The trial of a trace, its orders, and what was counted in all traces so far. */
typedef struct examination {
    mr_trial *trial;
    mr_order_reference orders;
    uint64_t settled[MR_STEP_COUNT], races[MR_STEP_COUNT];
    void (*examine)(struct examination *x); /* calls `wrong` at the first mismatch */
} examination;

static void wrong(examination *x, const question *q, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void wrong(examination *x, const question *q, const char *format, ...)
{
    char what[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    mr_trial_wrong(x->trial,
                   "--model %s --window-size %" PRIu32 " --window-overlap %" PRIu32
                   " --candidates-prefilter %s --candidates-report %s --candidates-far %s"
                   " --solver-steps %s --solver-saturate-steps %s"
                   " --witness-minimise %s: %s",
                   mr_model_name(q->model), q->plan.size, q->plan.overlap, q->prefilter, q->report,
                   q->far, q->steps, q->saturate_steps, q->minimise ? "true" : "false", what);
}

static mr_pair_set search_races(const mr_trace *trace, mr_model model, mr_test_windows plan)
{
    mr_pair_set races;
    assert_true(mr_right_races(trace, model, plan, &races));
    return races;
}

/* ---- what the predictor says ---- */

/* Mostly one thread: making threads costs more than such a small question, under ASan much more. */
static mr_config *configure(const examination *x, const question *q)
{
    char size[16], overlap[16];
    mr_config *config = mr_config_new();
    assert_non_null(config);
    snprintf(size, sizeof size, "%" PRIu32, q->plan.size);
    snprintf(overlap, sizeof overlap, "%" PRIu32, q->plan.overlap);
    mr_settings_set(config, "model", mr_model_name(q->model));
    mr_settings_set(config, "window.size", size);
    mr_settings_set(config, "window.overlap", overlap);
    mr_settings_set(config, "candidates.prefilter", q->prefilter);
    mr_settings_set(config, "candidates.report", q->report);
    mr_settings_set(config, "candidates.far", q->far);
    if (strcmp(q->steps, EAGER) != 0)
        mr_settings_set(config, "solver.steps", q->steps);
    else
        mr_settings_set(config, "solver.strategy", EAGER);
    mr_settings_set(config, "solver.saturate_steps", q->saturate_steps);
    mr_settings_set(config, "candidates.defer", x->trial->choice / 24 % 2 ? "1" : "0");
    mr_settings_set(config, "jobs", x->trial->choice / 3 % 8 ? "1" : "2");
    mr_settings_set(config, "solver.timeout_ms", "0");
    mr_settings_set(config, "solver.memory_mb", "0");
    mr_settings_set(config, "witness.minimise", q->minimise ? "true" : "false");
    return config;
}

/* A far race has a window of its own: of shb it begins with its first access and ends after the
 * second; of syncp it may begin earlier; otherwise it only has to hold the two. */
static bool is_far_window(const question *q, const mr_witness *w)
{
    if (strcmp(q->far, "shb") == 0)
        return w->window_start == w->first && w->window_end == w->second + 1;
    return w->window_start <= w->first &&
           (strcmp(q->far, "syncp") == 0 ? w->window_end == w->second + 1
                                         : w->window_end > w->second);
}

/* What must hold of a race whatever was asked. */
static void examine_race(examination *x, const question *q, mr_checker *checker,
                         const mr_race *race)
{
    const mr_witness *w = &race->witness;
    mr_error error = {0};
    if (mr_checker_check(checker, w, &error) != MR_OK)
        wrong(x, q, "the witness of %" PRIu32 "-%" PRIu32 " is rejected: %s", w->first, w->second,
              error.text);
    else if (race->confirmed_by == MR_STEP_FAR
                 ? !is_far_window(q, w)
                 : !mr_is_test_window(x->trial->trace, q->plan, w->window_start, w->window_end))
        wrong(x, q, "race %" PRIu32 "-%" PRIu32 ": [%" PRIu32 ", %" PRIu32 ") is not a window",
              w->first, w->second, w->window_start, w->window_end);
    else if (w->model != q->model)
        wrong(x, q, "race %" PRIu32 "-%" PRIu32 " has a witness for another model", w->first,
              w->second);
    else if (race->strength != mr_right_strength(&x->orders, w->first, w->second))
        wrong(x, q, "race %" PRIu32 "-%" PRIu32 " is called %s, should be %s", w->first, w->second,
              mr_strength_name(race->strength),
              mr_strength_name(mr_right_strength(&x->orders, w->first, w->second)));
}

static void examine_result(examination *x, const question *q, const mr_result *result,
                           mr_pair_set *found)
{
    mr_checker *checker = mr_checker_new(x->trial->trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    if (result->unknown_count)
        wrong(x, q, "%" PRIu32 "-%" PRIu32 " is unknown: %s %s", result->unknowns[0].first,
              result->unknowns[0].second, mr_unknown_reason_name(result->unknowns[0].reason),
              result->unknowns[0].detail);
    for (size_t i = 0; i < result->race_count && !x->trial->wrong[0]; i++) {
        const mr_race *race = &result->races[i];
        if (race->witness.kind != MR_WITNESS_RACE)
            break; /* test_memory_order */
        examine_race(x, q, checker, race);
        if (x->trial->wrong[0])
            break;
        if (!strcmp(q->report, "static")) {
            mr_add_static_pair(found, x->trial->trace, race->witness.first, race->witness.second);
            continue;
        }
        if (found->has[race->witness.first][race->witness.second])
            wrong(x, q, "race %" PRIu32 "-%" PRIu32 " is reported twice", race->witness.first,
                  race->witness.second);
        found->has[race->witness.first][race->witness.second] = true;
    }
    for (int step = 0; step < MR_STEP_COUNT; step++) {
        x->settled[step] += result->stats.settled[step];
        x->races[step] += result->stats.races[step];
    }
    mr_checker_free(checker);
}

/* Asks; what is found is `found`. False: something is wrong. */
static bool predict(examination *x, const question *q, mr_pair_set *found)
{
    mr_config *config = configure(x, q);
    mr_result result = {0};
    mr_error error = {0};
    *found = (mr_pair_set){0};
    if (mr_predict(x->trial->trace, config, NULL, &result, &error) != MR_OK)
        wrong(x, q, "error: %s", error.text);
    else
        examine_result(x, q, &result, found);
    mr_result_free(&result);
    mr_config_free(config);
    return !x->trial->wrong[0];
}

/* Is every pair of `small` in `big`? */
static bool contained(examination *x, const question *q, const mr_pair_set *small,
                      const mr_pair_set *big, const char *what)
{
    for (uint32_t a = 0; a < MR_YARDSTICK_EVENTS; a++) {
        for (uint32_t b = 0; b < MR_YARDSTICK_EVENTS; b++) {
            if (!small->has[a][b] || big->has[a][b])
                continue;
            wrong(x, q, "pair %" PRIu32 "-%" PRIu32 " %s", a, b, what);
            return false;
        }
    }
    return true;
}

/* Asks, and compares with `right`. False: something is wrong. */
static bool ask(examination *x, const question *q, const mr_pair_set *right)
{
    mr_pair_set found;
    return predict(x, q, &found) &&
           contained(x, q, &found, right, "is predicted, exhaustive search finds no race") &&
           contained(x, q, right, &found, "is not predicted, exhaustive search finds a race");
}

/* ---- the examinations ---- */

/* The whole trace and two of the three window plans. */
static bool plan_is_due(const examination *x, uint32_t plan)
{
    return plan == 0 || plan != 1 + x->trial->choice % (WINDOW_PLANS - 1);
}

/* Every event pair, in all models. */
static void examine_event_pairs(examination *x)
{
    for (uint32_t p = 0; p < WINDOW_PLANS; p++) {
        if (!plan_is_due(x, p))
            continue;
        mr_pair_set races[MODELS];
        question q = {.plan = window_plans[p],
                      .prefilter = "all",
                      .report = "event",
                      .far = "none",
                      .steps = LADDER,
                      .saturate_steps = UNBOUNDED,
                      .minimise = x->trial->choice / 3 % 2};
        for (int model = 0; model < MODELS; model++) {
            q.model = (mr_model)model;
            races[model] = search_races(x->trial->trace, q.model, q.plan);
            if (!ask(x, &q, &races[model]))
                return;
        }
        /* docs/semantics.md 6: races(SHB) ⊆ races(rf) ⊆ races(value) ⊆ races(branch) */
        mr_pair_set shb = mr_right_shb(&x->orders);
        if (!contained(x, &q, &races[0], &races[1], "is a race of rf, not of value") ||
            !contained(x, &q, &races[1], &races[2], "is a race of value, not of branch") ||
            (q.plan.size == 0 && !contained(x, &q, &shb, &races[0], "is a race of SHB, not of rf")))
            return;
    }
}

/* One model and one window plan of this trace. */
static question one_question(const examination *x, const char *prefilter, const char *report)
{
    return (question){.model = (mr_model)(x->trial->choice % MODELS),
                      .plan = window_plans[x->trial->choice / MODELS % WINDOW_PLANS],
                      .prefilter = prefilter,
                      .report = report,
                      .far = "none",
                      .steps = LADDER,
                      .saturate_steps = UNBOUNDED,
                      .minimise = true};
}

/* Steps that together decide every pair, each of them alone where it can; the last ones are exact.
 */
static const struct {
    const char *steps, *saturate_steps;
} ways[] = {
    {"saturate", UNBOUNDED},
    {"z3", UNBOUNDED},
    {"lazy,z3", UNBOUNDED},
    {"filter,saturate", UNBOUNDED},
    {"explore,z3", UNBOUNDED}, /* model branch: Z3 */
    {"filter,cone,eliminate,explore,z3", UNBOUNDED},
    {"cone,saturate", UNBOUNDED},
    {"filter,cone,saturate", UNBOUNDED},
    {"filter,cone,saturate,z3", "40"},
    {"filter,z3", UNBOUNDED},
    {"cone,z3", UNBOUNDED},
    {"filter,cone,linearise,z3", UNBOUNDED},
    {"filter,cone,saturate,lazy,z3", "40"},
    {"filter,cone,saturate,lazy,z3", "1"}, /* close races in small windows (predict/near.h) */
    {"filter,cone,lazy,z3", UNBOUNDED},
    {"filter,cone,greedy,saturate", UNBOUNDED},
    {"filter,cone,eliminate,saturate", UNBOUNDED},
    {"filter,cone,eliminate,z3", UNBOUNDED},
    {"cone,greedy,eliminate,lazy,z3", UNBOUNDED},
    {"filter,greedy,eliminate,saturate", UNBOUNDED},
    {EAGER, UNBOUNDED},
    {EAGER, UNBOUNDED},
};

/* Every event pair by some steps of the ladder; then its static pairs. */
static void examine_steps(examination *x)
{
    const char *reports[] = {"event", "static"};
    uint64_t way = x->trial->choice / 16 % (sizeof ways / sizeof *ways);
    for (int i = 0; i < 2; i++) {
        question q = one_question(x, "all", reports[i]);
        q.steps = ways[way].steps;
        q.saturate_steps = ways[way].saturate_steps;
        mr_pair_set races = search_races(x->trial->trace, q.model, q.plan);
        mr_pair_set pairs = mr_static_pairs(x->trial->trace, &races);
        if (!ask(x, &q, i ? &pairs : &races))
            return;
    }
}

static void examine_static_pairs(examination *x)
{
    question q = one_question(x, "all", "static");
    mr_pair_set races = search_races(x->trial->trace, q.model, q.plan);
    mr_pair_set pairs = mr_static_pairs(x->trial->trace, &races);
    ask(x, &q, &pairs);
}

/* The sync-preserving races of the whole trace, as pairs of events. */
static mr_pair_set syncp_races(const examination *x)
{
    mr_pair_set races = {0};
    uint32_t count = x->trial->trace->event_count;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++)
            races.has[a][b] = mr_reference_reports(&x->orders, MR_RELATION_SYNCP, a, b);
    return races;
}

/* With far races: those of the windows, those of the order, and only races of the whole trace. What
 * shb finds in this way, syncp does, too. */
static void examine_far(examination *x)
{
    const mr_trace *trace = x->trial->trace;
    question q = one_question(x, "all", "static");
    mr_pair_set near = search_races(trace, q.model, q.plan), shb = mr_right_shb(&x->orders);
    mr_pair_set syncp = syncp_races(x), found, more;
    mr_pair_set whole = search_races(trace, q.model, window_plans[0]);
    near = mr_static_pairs(trace, &near);
    shb = mr_static_pairs(trace, &shb);
    syncp = mr_static_pairs(trace, &syncp);
    whole = mr_static_pairs(trace, &whole);
    q.far = "shb";
    bool right =
        predict(x, &q, &found) &&
        contained(x, &q, &near, &found, "of locations is not predicted, a window has a race") &&
        contained(x, &q, &shb, &found, "of locations is not predicted, it is a race of SHB") &&
        contained(x, &q, &found, &whole, "of locations is predicted, but there is no race");
    q.far = "syncp";
    if (right && predict(x, &q, &more) &&
        contained(x, &q, &found, &more, "of locations is not predicted, with far = shb it is") &&
        contained(x, &q, &syncp, &more, "of locations is not predicted, it is a race of SyncP"))
        contained(x, &q, &more, &whole, "of locations is predicted, but there is no race");
}

/* Steps with which far races are decided: each leaves nothing unknown. */
static const char *const far_ways[] = {
    LADDER,
    "explore,z3", /* all states of the far window; model branch: Z3 */
    "filter,cone,explore,z3",
    "filter,cone,eliminate,explore,z3",
    "saturate",
    "filter,cone,eliminate,saturate",
};

/* With `far = all` windows do not matter: the static races are those of the whole trace. With hb or
 * wcp they are those of the windows and at least those that have a pair of that strength. */
static void examine_far_all(examination *x)
{
    static const char *const names[] = {"hb", "wcp"};
    static const mr_strength weakest[] = {MR_STRENGTH_HB, MR_STRENGTH_WCP};
    const mr_trace *trace = x->trial->trace;
    question q = one_question(x, "all", "static");
    mr_pair_set races = search_races(trace, q.model, window_plans[0]), found;
    mr_pair_set whole = mr_static_pairs(trace, &races);
    int i = x->trial->choice / 5 % 2;
    mr_pair_set kept = mr_right_filtered(&x->orders, &races, weakest[i]);
    kept = mr_static_pairs(trace, &kept);
    if (!q.plan.size)
        q.plan = window_plans[1];
    q.steps = far_ways[x->trial->choice / 29 % (sizeof far_ways / sizeof *far_ways)];
    q.saturate_steps = x->trial->choice / 7 % 4 || strstr(q.steps, "z3") == NULL ? UNBOUNDED : "0";
    q.far = "all";
    if (!ask(x, &q, &whole))
        return;
    q.far = names[i];
    if (predict(x, &q, &found) &&
        contained(x, &q, &kept, &found, "of locations is not predicted, it is one of that order"))
        contained(x, &q, &found, &whole, "of locations is predicted, but there is no race");
}

/* What a prefilter leaves is a part of all races (by `filter`), and exactly the part that it names.
 */
static void examine_prefilters(examination *x)
{
    static const char *const names[] = {"hb", "wcp"};
    static const mr_strength weakest[] = {MR_STRENGTH_HB, MR_STRENGTH_WCP};
    for (int i = 0; i < 2; i++) {
        question q = one_question(x, names[i], "event");
        mr_pair_set races = search_races(x->trial->trace, q.model, q.plan);
        mr_pair_set kept = mr_right_filtered(&x->orders, &races, weakest[i]);
        if (!ask(x, &q, &kept))
            return;
    }
}

/* ---- running ---- */

static void examine_trial(mr_trial *trial, void *context)
{
    examination *x = context;
    x->trial = trial;
    mr_order_reference_build(&x->orders, trial->trace);
    x->examine(x);
}

static void run(void (*examine)(examination *x))
{
    const mr_trials trials = {.prefix = "EXACT",
                              .traces = DEFAULT_TRACES,
                              .share = SHARE_TRACES,
                              .seed = DEFAULT_SEED,
                              .all_kinds = true};
    examination x = {.examine = examine};
    mr_trials_run(&trials, examine_trial, &x);
    for (int step = 0; step < MR_STEP_COUNT; step++)
        print_message("  %-9s settled %7" PRIu64 ", races %7" PRIu64 "\n",
                      mr_step_name((mr_step)step), x.settled[step], x.races[step]);
}

static void test_every_event_pair(void **state)
{
    (void)state;
    run(examine_event_pairs);
}

static void test_every_way(void **state)
{
    (void)state;
    run(examine_steps);
}

static void test_static_pairs(void **state)
{
    (void)state;
    run(examine_static_pairs);
}

static void test_far_races(void **state)
{
    (void)state;
    run(examine_far);
}

static void test_far_all(void **state)
{
    (void)state;
    run(examine_far_all);
}

static void test_prefilters(void **state)
{
    (void)state;
    run(examine_prefilters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_pair), cmocka_unit_test(test_every_way),
        cmocka_unit_test(test_static_pairs),     cmocka_unit_test(test_far_races),
        cmocka_unit_test(test_far_all),          cmocka_unit_test(test_prefilters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
