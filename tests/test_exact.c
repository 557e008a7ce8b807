/*
 * Is the prediction exact? Compared with exhaustive search on random traces: every event pair, in
 * both models, without windows and with small ones; then static pairs and prefilters.
 *
 *   EXACT_TRACES  how many traces (default 4000, over all shapes in turn)
 *   EXACT_SEED    seed of the first one; trace i has seed EXACT_SEED + i (default fixed)
 *   EXACT_SHAPE   only traces of this shape
 *
 * A mismatch prints the line that runs its trace again, and the trace made as short as possible.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/predict.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/order_reference.h"
#include "trace/trace.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_TRACES = 4000,
    DEFAULT_SEED = 20180611,
    MOST_EVENTS = 16, /* of a generated trace */
    WINDOW_PLANS = 4,
};

typedef struct window_plan {
    uint32_t size, overlap;
} window_plan;

static const window_plan window_plans[WINDOW_PLANS] = {{0, 0}, {6, 3}, {5, 0}, {8, 4}};

/* What is asked of the predictor. */
typedef struct question {
    mr_model model;
    window_plan plan;
    const char *prefilter, *report;
    bool minimise;
} question;

/* A set of pairs of event or location numbers, first <= second. */
typedef struct pair_set {
    bool has[MOST_EVENTS][MOST_EVENTS];
} pair_set;

/* One trace under examination, and what is wrong with it. */
typedef struct examination {
    uint64_t seed;   /* of the trace */
    uint64_t choice; /* which questions are asked of it; made of the seed */
    mr_trace *trace;
    mr_order_reference orders;
    size_t race_count; /* found so far, in all traces */
    char wrong[1600];  /* empty: nothing */
} examination;

/* Looks at the trace; fills `wrong` at the first mismatch. */
typedef void examine_function(examination *x);

static void wrong(examination *x, const question *q, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void wrong(examination *x, const question *q, const char *format, ...)
{
    char what[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(x->wrong, sizeof x->wrong,
             "--model %s --window-size %" PRIu32 " --window-overlap %" PRIu32
             " --candidates-prefilter %s --candidates-report %s --candidates-far none"
             " --witness-minimise %s: %s",
             mr_model_name(q->model), q->plan.size, q->plan.overlap, q->prefilter, q->report,
             q->minimise ? "true" : "false", what);
}

/* ---- what is right ---- */

/* Bounds of window k; false: the one before reached the end of the trace. */
static bool window_bounds(const mr_trace *trace, window_plan plan, uint32_t k, uint32_t *start,
                          uint32_t *end)
{
    uint32_t count = trace->event_count, step = plan.size - plan.overlap;
    if (plan.size == 0) {
        *start = 0;
        *end = count;
        return k == 0 && count > 0;
    }
    if (k > 0 && (k - 1) * step + plan.size >= count)
        return false;
    *start = k * step;
    *end = *start + plan.size < count ? *start + plan.size : count;
    return *start < count;
}

static bool is_window(const mr_trace *trace, window_plan plan, uint32_t start, uint32_t end)
{
    uint32_t s, e;
    for (uint32_t k = 0; window_bounds(trace, plan, k, &s, &e); k++) {
        if (s == start && e == end)
            return true;
    }
    return false;
}

/* The union of the races of all windows. */
static pair_set search_races(const mr_trace *trace, mr_model model, window_plan plan)
{
    pair_set races = {0};
    uint32_t start, end;
    for (uint32_t k = 0; window_bounds(trace, plan, k, &start, &end); k++) {
        mr_exhaustive search;
        assert_true(mr_exhaustive_find(trace, model, start, end, &search));
        for (size_t i = 0; i < search.race_count; i++)
            races.has[search.races[i].first][search.races[i].second] = true;
        mr_exhaustive_free(&search);
    }
    return races;
}

static mr_strength right_strength(const examination *x, uint32_t first, uint32_t second)
{
    if (!mr_order_matrix_has(&x->orders.hb, first, second))
        return MR_STRENGTH_HB;
    if (!mr_order_matrix_has(&x->orders.wcp, first, second))
        return MR_STRENGTH_WCP;
    return MR_STRENGTH_BEYOND_WCP;
}

/* Only the pairs that the prefilter lets through. */
static pair_set filter(const examination *x, const pair_set *races, mr_strength weakest)
{
    pair_set kept = {0};
    for (uint32_t a = 0; a < x->trace->event_count; a++) {
        for (uint32_t b = a + 1; b < x->trace->event_count; b++)
            kept.has[a][b] = races->has[a][b] && right_strength(x, a, b) <= weakest;
    }
    return kept;
}

static void add_static_pair(pair_set *pairs, const mr_trace *trace, uint32_t a, uint32_t b)
{
    uint32_t one = trace->location[a], two = trace->location[b];
    pairs->has[one < two ? one : two][one < two ? two : one] = true;
}

static pair_set static_pairs(const mr_trace *trace, const pair_set *races)
{
    pair_set pairs = {0};
    for (uint32_t a = 0; a < trace->event_count; a++) {
        for (uint32_t b = a + 1; b < trace->event_count; b++) {
            if (races->has[a][b])
                add_static_pair(&pairs, trace, a, b);
        }
    }
    return pairs;
}

/* ---- what the predictor says ---- */

static void set(mr_config *config, const char *key, const char *text)
{
    mr_error error;
    if (mr_config_set(config, key, text, NULL, 0, &error) != MR_OK)
        fail_msg("%s", error.text);
}

static mr_config *configure(const question *q)
{
    char size[16], overlap[16];
    mr_config *config = mr_config_new();
    assert_non_null(config);
    snprintf(size, sizeof size, "%" PRIu32, q->plan.size);
    snprintf(overlap, sizeof overlap, "%" PRIu32, q->plan.overlap);
    set(config, "model", mr_model_name(q->model));
    set(config, "window.size", size);
    set(config, "window.overlap", overlap);
    set(config, "candidates.prefilter", q->prefilter);
    set(config, "candidates.report", q->report);
    set(config, "candidates.far", "none");
    set(config, "solver.timeout_ms", "0");
    set(config, "solver.memory_mb", "0");
    set(config, "witness.minimise", q->minimise ? "true" : "false");
    return config;
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
    else if (!is_window(x->trace, q->plan, w->window_start, w->window_end))
        wrong(x, q, "race %" PRIu32 "-%" PRIu32 ": [%" PRIu32 ", %" PRIu32 ") is not a window",
              w->first, w->second, w->window_start, w->window_end);
    else if (w->model != q->model)
        wrong(x, q, "race %" PRIu32 "-%" PRIu32 " has a witness for another model", w->first,
              w->second);
    else if (race->strength != right_strength(x, w->first, w->second))
        wrong(x, q, "race %" PRIu32 "-%" PRIu32 " is called %s, should be %s", w->first, w->second,
              mr_strength_name(race->strength),
              mr_strength_name(right_strength(x, w->first, w->second)));
}

static void examine_result(examination *x, const question *q, const mr_result *result,
                           pair_set *found)
{
    mr_checker *checker = mr_checker_new(x->trace);
    assert_non_null(checker);
    if (result->unknown_count)
        wrong(x, q, "%" PRIu32 "-%" PRIu32 " is unknown: %s %s", result->unknowns[0].first,
              result->unknowns[0].second, mr_unknown_reason_name(result->unknowns[0].reason),
              result->unknowns[0].detail);
    for (size_t i = 0; i < result->race_count && !x->wrong[0]; i++) {
        const mr_race *race = &result->races[i];
        examine_race(x, q, checker, race);
        if (x->wrong[0])
            break;
        if (!strcmp(q->report, "static")) {
            add_static_pair(found, x->trace, race->witness.first, race->witness.second);
            continue;
        }
        if (found->has[race->witness.first][race->witness.second])
            wrong(x, q, "race %" PRIu32 "-%" PRIu32 " is reported twice", race->witness.first,
                  race->witness.second);
        found->has[race->witness.first][race->witness.second] = true;
    }
    x->race_count += result->race_count;
    mr_checker_free(checker);
}

/* Asks, and compares with `right`. False: something is wrong. */
static bool ask(examination *x, const question *q, const pair_set *right)
{
    mr_config *config = configure(q);
    mr_result result = {0};
    mr_error error = {0};
    pair_set found = {0};
    if (mr_predict(x->trace, config, &result, &error) != MR_OK)
        wrong(x, q, "error: %s", error.text);
    else
        examine_result(x, q, &result, &found);
    mr_result_free(&result);
    mr_config_free(config);
    for (uint32_t a = 0; a < MOST_EVENTS && !x->wrong[0]; a++) {
        for (uint32_t b = 0; b < MOST_EVENTS; b++) {
            if (found.has[a][b] == right->has[a][b])
                continue;
            wrong(x, q, "pair %" PRIu32 "-%" PRIu32 ": predicted %s, exhaustive search %s", a, b,
                  found.has[a][b] ? "race" : "no race", right->has[a][b] ? "race" : "no race");
            break;
        }
    }
    return !x->wrong[0];
}

/* ---- the three examinations ---- */

/* The whole trace and two of the three window plans. */
static bool plan_is_due(const examination *x, uint32_t plan)
{
    return plan == 0 || plan != 1 + x->choice % (WINDOW_PLANS - 1);
}

/* SEMANTICS 5: races(SHB) ⊆ races(rf) ⊆ races(value). */
static void examine_containments(examination *x, const question *q, const pair_set *rf,
                                 const pair_set *value)
{
    for (uint32_t a = 0; a < x->trace->event_count; a++) {
        for (uint32_t b = a + 1; b < x->trace->event_count; b++) {
            bool shb = q->plan.size == 0 && mr_reference_conflict(x->trace, a, b) &&
                       mr_reference_shb_race(&x->orders, a, b);
            if (shb && !rf->has[a][b])
                wrong(x, q, "%" PRIu32 "-%" PRIu32 " is a race of SHB, not of rf", a, b);
            if (rf->has[a][b] && !value->has[a][b])
                wrong(x, q, "%" PRIu32 "-%" PRIu32 " is a race of rf, not of value", a, b);
        }
    }
}

static void examine_event_pairs(examination *x)
{
    for (uint32_t p = 0; p < WINDOW_PLANS; p++) {
        if (!plan_is_due(x, p))
            continue;
        pair_set races[2];
        question q = {.plan = window_plans[p],
                      .prefilter = "all",
                      .report = "event",
                      .minimise = x->choice / 3 % 2};
        for (int model = 0; model < 2; model++) {
            q.model = (mr_model)model;
            races[model] = search_races(x->trace, q.model, q.plan);
            if (!ask(x, &q, &races[model]))
                return;
        }
        examine_containments(x, &q, &races[0], &races[1]);
    }
}

/* One model and one window plan of this trace. */
static question one_question(const examination *x, const char *prefilter, const char *report)
{
    return (question){.model = x->choice % 2 ? MR_MODEL_RF : MR_MODEL_VALUE,
                      .plan = window_plans[x->choice / 2 % WINDOW_PLANS],
                      .prefilter = prefilter,
                      .report = report,
                      .minimise = true};
}

static void examine_static_pairs(examination *x)
{
    question q = one_question(x, "all", "static");
    pair_set races = search_races(x->trace, q.model, q.plan);
    pair_set pairs = static_pairs(x->trace, &races);
    ask(x, &q, &pairs);
}

/* What a prefilter leaves is a part of all races (by `filter`), and exactly the part that it names.
 */
static void examine_prefilters(examination *x)
{
    static const char *const names[] = {"hb", "wcp"};
    static const mr_strength weakest[] = {MR_STRENGTH_HB, MR_STRENGTH_WCP};
    for (int i = 0; i < 2; i++) {
        question q = one_question(x, names[i], "event");
        pair_set races = search_races(x->trace, q.model, q.plan);
        pair_set kept = filter(x, &races, weakest[i]);
        if (!ask(x, &q, &kept))
            return;
    }
}

/* ---- running and shrinking ---- */

/* Examines a text; false: it is not a trace. */
static bool examine_text(const char *text, examine_function *examine, examination *x)
{
    mr_error error = {0};
    mr_read_options options = {0};
    x->wrong[0] = '\0';
    if (mr_trace_read_text("random.std", text, strlen(text), &options, &x->trace, &error) !=
        MR_OK) {
        snprintf(x->wrong, sizeof x->wrong, "line %" PRIu64 ": %s", error.line, error.text);
        return false;
    }
    mr_order_reference_build(&x->orders, x->trace);
    examine(x);
    mr_trace_free(x->trace);
    x->trace = NULL;
    return true;
}

/* `text` without its line number `line`; false: it has fewer lines. */
static bool drop_line(const char *text, uint32_t line, char *shorter)
{
    const char *start = text;
    for (; line > 0 && *start; line--)
        start = strchr(start, '\n') + 1;
    if (!*start)
        return false;
    size_t before = (size_t)(start - text);
    memcpy(shorter, text, before);
    strcpy(shorter + before, strchr(start, '\n') + 1);
    return true;
}

/* Drops events as long as something stays wrong; `text` becomes the shortest such trace. */
static void shrink(char *text, examine_function *examine, examination *x)
{
    char *shorter = malloc(strlen(text) + 1);
    assert_non_null(shorter);
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t line = 0; drop_line(text, line, shorter);) {
            if (examine_text(shorter, examine, x) && x->wrong[0]) {
                strcpy(text, shorter);
                changed = true;
            } else {
                line++;
            }
        }
    }
    free(shorter);
    examine_text(text, examine, x);
}

static void fail_trace(char *text, mr_shape shape, examine_function *examine, examination *x)
{
    char *original = strdup(text);
    assert_non_null(original);
    print_error("%s\n%s", x->wrong, original);
    shrink(text, examine, x);
    print_error("rerun: EXACT_SEED=%" PRIu64 " EXACT_SHAPE=%s EXACT_TRACES=1\nshortened:\n%s\n%s",
                x->seed, mr_shape_name(shape), x->wrong, text);
    free(original);
    free(text);
    fail_msg("the prediction is not exact");
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* The shape of EXACT_SHAPE, or MR_SHAPE_COUNT for all in turn. */
static mr_shape shape_from_environment(void)
{
    const char *text = getenv("EXACT_SHAPE");
    int shape = 0;
    if (!text || !*text)
        return MR_SHAPE_COUNT;
    while (shape < MR_SHAPE_COUNT && strcmp(text, mr_shape_name((mr_shape)shape)) != 0)
        shape++;
    if (shape == MR_SHAPE_COUNT)
        fail_msg("EXACT_SHAPE=%s: no such shape", text);
    return (mr_shape)shape;
}

static void run(examine_function *examine)
{
    uint64_t traces = number_from_environment("EXACT_TRACES", DEFAULT_TRACES);
    uint64_t seed = number_from_environment("EXACT_SEED", DEFAULT_SEED);
    mr_shape only = shape_from_environment();
    examination *x = calloc(1, sizeof *x);
    assert_non_null(x);
    for (uint64_t i = 0; i < traces; i++) {
        mr_shape shape = only == MR_SHAPE_COUNT ? (mr_shape)(i % MR_SHAPE_COUNT) : only;
        x->seed = seed + i;
        mr_random random = {x->seed};
        x->choice = mr_random_next(&random) >> 8;
        char *text = mr_generate_trace(x->seed, shape);
        assert_non_null(text);
        examine_text(text, examine, x);
        if (x->wrong[0])
            fail_trace(text, shape, examine, x);
        free(text);
    }
    print_message("%" PRIu64 " traces from seed %" PRIu64 ", %zu races\n", traces, seed,
                  x->race_count);
    free(x);
}

static void test_every_event_pair(void **state)
{
    (void)state;
    run(examine_event_pairs);
}

static void test_static_pairs(void **state)
{
    (void)state;
    run(examine_static_pairs);
}

static void test_prefilters(void **state)
{
    (void)state;
    run(examine_prefilters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_pair),
        cmocka_unit_test(test_static_pairs),
        cmocka_unit_test(test_prefilters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
