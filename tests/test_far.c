/*
 * Races beyond any window: planted ones at chosen distances, those of the whole-trace orders, and
 * the budgets.
 *
 * FAR_EVENTS in the environment makes the trace with planted races longer, with windows of the
 * shipped size; its report says what it took.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "far/budget.h"
#include "predict/merge.h"
#include "support/generate_far.h"
#include "support/generate_large.h"
#include "support/predicted.h"
#include "support/sample.h"
#include "sweep/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_EVENTS = 60000, MOST_PLANTS = 64 };

static bool at_locations(const mr_trace *trace, uint32_t first, uint32_t second, uint32_t one,
                         uint32_t two)
{
    uint32_t x = trace->location[first], y = trace->location[second];
    return (x == one && y == two) || (x == two && y == one);
}

static const mr_race *find_race(const mr_trace *trace, const mr_result *result, uint32_t one,
                                uint32_t two)
{
    for (size_t i = 0; i < result->race_count; i++)
        if (at_locations(trace, result->races[i].witness.first, result->races[i].witness.second,
                         one, two))
            return &result->races[i];
    return NULL;
}

/* ---- planted races ---- */

static uint32_t location_of(const mr_trace *trace, uint32_t plant, char side)
{
    char name[16];
    uint32_t number = MR_NONE;
    int length = snprintf(name, sizeof name, "p%" PRIu32 "%c", plant, side);
    assert_true(mr_names_find(&trace->locations, name, (uint32_t)length, &number));
    return number;
}

/* Of each kind one at each power of ten, and one over nine tenths of the trace. */
static uint32_t make_plants(mr_plant *plants, uint32_t events)
{
    uint32_t count = 0;
    for (uint32_t distance = 100; distance; distance = distance < events / 10  ? distance * 10
                                                       : distance < events / 2 ? events / 10 * 9
                                                                               : 0)
        for (int kind = 0; kind < MR_PLANT_KINDS; kind++) {
            uint32_t first = (events - distance) / 7 * (uint32_t)(1 + kind);
            plants[count++] =
                (mr_plant){.kind = (mr_plant_kind)kind, .first = first, .second = first + distance};
        }
    assert_true(count <= MOST_PLANTS);
    return count;
}

static bool is_race(mr_plant_kind kind, mr_model model)
{
    return kind == MR_PLANT_FREE || kind == MR_PLANT_REVERSED ||
           (kind == MR_PLANT_SAME && model != MR_MODEL_RF);
}

static void check_planted(const mr_trace *trace, const mr_result *result, const mr_plant *plants,
                          uint32_t count, mr_model model)
{
    size_t races = 0;
    for (uint32_t i = 0; i < count; i++) {
        const mr_race *race =
            find_race(trace, result, location_of(trace, i, 'a'), location_of(trace, i, 'b'));
        if ((race != NULL) != is_race(plants[i].kind, model))
            fail_msg("model %s: plant %" PRIu32 " of kind %d at distance %" PRIu32 " is %s",
                     mr_model_name(model), i, plants[i].kind, plants[i].second - plants[i].first,
                     race ? "a race" : "not found");
        races += race != NULL;
        if (race)
            print_message("  kind %d, distance %8" PRIu32 ": by %s, witness of %" PRIu32
                          " events from %" PRIu32 "\n",
                          plants[i].kind, race->witness.second - race->witness.first,
                          mr_step_name(race->confirmed_by), race->witness.event_count,
                          race->witness.window_start);
    }
    assert_int_equal(result->race_count, races);
    assert_int_equal(result->unknown_count, 0);
    print_message(
        "%" PRIu64 " events, model %s: %zu races, %.2f s (far %.2f, witness %.2f), %" PRIu64
        " MiB\n",
        trace->event_count, mr_model_name(model), races, result->run.total_seconds,
        result->run.far_seconds, result->run.witness_seconds, result->run.peak_memory_bytes >> 20);
}

static void test_planted(void **state)
{
    (void)state;
    const char *wish = getenv("FAR_EVENTS");
    uint32_t events = wish ? (uint32_t)strtoul(wish, NULL, 10) : DEFAULT_EVENTS;
    mr_plant plants[MOST_PLANTS];
    uint32_t count = make_plants(plants, events);
    char *text = mr_generate_far(1, events, plants, count);
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    free(text);
    for (int model = MR_MODEL_RF; model <= MR_MODEL_VALUE; model++) {
        const char *const settings[] = {"model", mr_model_name((mr_model)model), "window.size",
                                        wish ? "10000" : "1000", NULL};
        mr_result result = mr_predicted_right(trace, settings);
        check_planted(trace, &result, plants, count, (mr_model)model);
        mr_result_free(&result);
    }
    mr_trace_free(trace);
}

/* More races than stay open in memory: the witnesses of the others are packed, and say the same. */
static void test_many(void **state)
{
    (void)state;
    enum { RACES = MR_WITNESSES_OPEN + 20, EVENTS = 40000, DISTANCE = 2000 };
    static mr_plant plants[RACES];
    for (uint32_t i = 0; i < RACES; i++)
        plants[i] = (mr_plant){
            .kind = MR_PLANT_REVERSED, .first = 100 + 130 * i, .second = 100 + 130 * i + DISTANCE};
    char *text = mr_generate_far(2, EVENTS, plants, RACES);
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    free(text);
    const char *const settings[] = {"model",           "rf", "window.size", "1000",
                                    "window.far_work", "0",  NULL};
    mr_result result = mr_predicted_right(trace, settings);
    size_t packed = 0;
    assert_int_equal(result.race_count, RACES);
    for (size_t i = 0; i < result.race_count; i++)
        packed += !result.races[i].witness.events;
    assert_true(packed > 0);
    mr_result_free(&result);
    mr_trace_free(trace);
}

/* ---- races of the orders ---- */

/* Every static race that the order reports and proves, or confirms, is predicted. */
static void check_order(const mr_trace *trace, const char *relation, const char *model,
                        const mr_result *result, const char *text)
{
    const char *const settings[] = {"relation", relation,      "model", model, "confirm",
                                    "true",     "window.size", "200",   NULL};
    mr_config *config = mr_settings_of(settings);
    mr_sweep sweep;
    mr_error error = {0};
    if (mr_sweep_run_trace(&sweep, trace, config, NULL, NULL, &error) != MR_OK)
        fail_msg("%s", error.text);
    const mr_race_list *list = &sweep.result.list;
    for (size_t i = 0; i < list->race_count; i++) {
        const mr_race_example *example = &list->examples[list->races[i].first_example];
        uint32_t one = trace->location[example->first.event];
        uint32_t two = trace->location[example->second.event];
        if (sweep.result.races[i].standing == MR_STANDING_RACE &&
            !find_race(trace, result, one, two))
            fail_msg("%s, model %s: %" PRIu32 "-%" PRIu32 " is lost:\n%s", relation, model,
                     (uint32_t)example->first.event, (uint32_t)example->second.event, text);
    }
    mr_sweep_free(&sweep);
    mr_config_free(config);
}

static void test_races_of_the_orders(void **state)
{
    (void)state;
    uint64_t far = 0;
    for (uint64_t seed = 0; seed < 24; seed++) {
        const mr_large *shape = &mr_large_shapes[seed % mr_large_shape_count];
        const char *model = seed / 2 % 2 ? "value" : "rf";
        const char *const settings[] = {"model", model, "window.size", "20", NULL};
        char *text = mr_generate_large(seed + 500, shape, 400);
        assert_non_null(text);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        mr_result result = mr_predicted_right(trace, settings);
        check_order(trace, "shb", model, &result, text);
        check_order(trace, "syncp", model, &result, text);
        check_order(trace, "wcp", model, &result, text);
        far += result.stats.races[MR_STEP_FAR];
        mr_result_free(&result);
        mr_trace_free(trace);
        free(text);
    }
    assert_true(far > 100);
}

/* ---- what it may cost ---- */

/* One question uses up a budget of 1: of two plants that SyncP does not see one is unknown. */
static void test_budget_bites(void **state)
{
    (void)state;
    static const char *const settings[] = {"model",           "value", "window.size", "100",
                                           "window.far_work", "1",     NULL};
    static const mr_plant plants[] = {
        {MR_PLANT_FREE, 300, 4000}, {MR_PLANT_REVERSED, 400, 4200}, {MR_PLANT_REVERSED, 500, 4400}};
    char *text = mr_generate_far(3, 5000, plants, 3);
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mr_result result = mr_predicted_right(trace, settings);
    assert_int_equal(result.race_count, 2);
    assert_int_equal(result.unknown_count, 1);
    assert_int_equal(result.unknowns[0].reason, MR_UNKNOWN_BUDGET);
    assert_true(at_locations(trace, result.unknowns[0].first, result.unknowns[0].second,
                             location_of(trace, 2, 'a'), location_of(trace, 2, 'b')));
    assert_int_equal(result.unknowns[0].strength, MR_STRENGTH_WCP);
    assert_int_equal(result.stats.unknown[MR_UNKNOWN_BUDGET], 1);
    assert_int_equal(result.stats.far_pairs, 2);
    assert_int_equal(result.stats.far_unknown, 1);
    mr_result_free(&result);
    mr_trace_free(trace);
    free(text);
}

/* A pair of places may use up half of its budget in a model stricter than that of the settings, and the rest in
 * that one. */
static void test_budget_of_stricter_models(void **state)
{
    (void)state;
    enum { BUDGET = 100 };
    const mr_predict_settings settings = {.model = MR_MODEL_VALUE,
                                          .far_limits = {.per_race = BUDGET}};
    const mr_ledger ledger = {0};
    const mr_candidate_group group = {.location_1 = 1, .location_2 = 2};
    mr_place_pair places = {.group = &group};
    static mr_far_window window;
    mr_far_budget budget;
    window.settings = &settings;
    window.ledger = &ledger;
    mr_far_budget_init(&budget, &window, NULL);
    for (uint32_t spent = 0; spent <= BUDGET + 1; spent++) {
        places.spent = spent;
        window.model = MR_MODEL_RF;
        assert_int_equal(mr_far_budget_covers(&budget, &places, 0), spent <= BUDGET / 2);
        window.model = MR_MODEL_VALUE;
        assert_int_equal(mr_far_budget_covers(&budget, &places, 0), spent <= BUDGET);
    }
    mr_far_budget_free(&budget);
}

/* The kinds that the words of candidates.far stand for. */
static void test_how_far(void **state)
{
    (void)state;
    static const struct {
        const char *far, *model;
        size_t races;
    } cases[] = {{"none", "value", 0}, {"shb", "value", 1}, {"syncp", "value", 1},
                 {"hb", "value", 1},   {"wcp", "rf", 2},    {"all", "rf", 2},
                 {"wcp", "value", 2},  {"all", "value", 3}};
    static const mr_plant plants[] = {{MR_PLANT_FREE, 300, 4000},
                                      {MR_PLANT_REVERSED, 400, 4200},
                                      {MR_PLANT_SAME, 500, 4400},
                                      {MR_PLANT_TAKEN, 600, 4600}};
    char *text = mr_generate_far(4, 5000, plants, 4);
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const settings[] = {"model",          cases[i].model, "window.size", "200",
                                        "candidates.far", cases[i].far,   NULL};
        mr_result result = mr_predicted_right(trace, settings);
        if (result.race_count != cases[i].races || result.unknown_count)
            fail_msg("far %s, model %s: %zu races, %zu unknown", cases[i].far, cases[i].model,
                     result.race_count, result.unknown_count);
        mr_result_free(&result);
    }
    mr_trace_free(trace);
    free(text);
}

/* Far windows that are smaller than the trace, and overlap by half. */
static void test_small_far_windows(void **state)
{
    (void)state;
    static const char *const settings[] = {"model",           "value", "window.size", "100",
                                           "window.far_size", "2000",  NULL};
    static const mr_plant plants[] = {{MR_PLANT_REVERSED, 3000, 3400},
                                      {MR_PLANT_REVERSED, 3400, 3800},
                                      {MR_PLANT_REVERSED, 500, 9000}};
    char *text = mr_generate_far(5, 10000, plants, 3);
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mr_result result = mr_predicted_right(trace, settings);
    assert_int_equal(result.race_count, 2);      /* the third is farther apart than a far window */
    assert_int_equal(result.stats.far_parts, 3); /* with two pairs under its lock */
    mr_result_free(&result);
    mr_trace_free(trace);
    free(text);
}

/* A bundle of two pairs of places with one `free`, which is an access of both variables. T1 writes s after
 * them, and T2 needs that before the `free`. */
static void test_bundle_of_a_free(void **state)
{
    (void)state;
    static const char text[] = "#@in o.x o\n#@in o.y o\n"
                               "T2|w(s=0)|1\n"
                               "T1|w(o.x=1)|2\n"
                               "T1|w(o.y=1)|3\n"
                               "T3|w(s=1)|4\n"
                               "T2|r(s=1)|5\n"
                               "T1|w(s=0)|6\n"
                               "T2|acq(k)|7\n"
                               "T2|r(s=0)|8\n"
                               "T2|rel(k)|9\n"
                               "T2|acq(k)|10\n"
                               "T2|rel(k)|11\n"
                               "T2|free(o)|12\n";
    static const char *const settings[] = {"window.size", "10", "solver.steps",
                                           "filter,cone,saturate", NULL};
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mr_result result = mr_predicted_right(trace, settings);
    assert_int_equal(result.stats.far_pairs, 2);
    assert_int_equal(result.stats.far_no_race, 2);
    mr_result_free(&result);
    mr_trace_free(trace);
}

/* ---- a run that is ended ---- */

static void ask_within_wcp(void *context, const char *stage, uint64_t done, uint64_t total)
{
    if (strcmp(stage, "wcp") == 0 && done < total)
        mr_halt_ask(context, MR_HALT_SIGNAL);
}

/* A run that is asked to end while WCP is at the trace has what was found, and no error. */
static void test_ended_within_wcp(void **state)
{
    (void)state;
    enum { EVENTS = 140000 }; /* more than one report of the progress */
    static const char *const settings[] = {"find", "races", "model", "rf", NULL};
    const mr_plant plants[] = {{MR_PLANT_FREE, 1000, 1100}, {MR_PLANT_REVERSED, 2000, 120000}};
    char *text = mr_generate_far(1, EVENTS, plants, sizeof plants / sizeof *plants);
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    mr_halt halt = {0};
    const mr_progress progress = {ask_within_wcp, &halt};
    const mr_predict_run run = {.progress = &progress, .halt = &halt};
    mr_config *config = mr_settings_of(settings);
    mr_result result = {0};
    mr_error error = {0};
    assert_int_equal(mr_predict(trace, config, &run, &result, &error), MR_OK);
    assert_int_equal(mr_halt_asked(&halt), MR_HALT_SIGNAL);
    assert_true(result.stats.incomplete);
    assert_true(result.race_count > 0);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
    free(text);
}

/* mr_debug.write: asks the run to end when its first window is decided. */
static void ask_within_windows(void *context, const char *line)
{
    if (strstr(line, "stage=windows unit=0 decided_by="))
        mr_halt_ask(context, MR_HALT_SIGNAL);
}

/* A run that is asked to end within its windows has the races that the search for those of an order has found. */
static void test_ended_within_windows(void **state)
{
    (void)state;
    enum { EVENTS = 60000 };
    static const char *const settings[][5] = {{"find", "races", "jobs", "1", NULL},
                                              {"candidates.far", "shb", "jobs", "1", NULL}};
    const mr_plant plants[] = {{MR_PLANT_FREE, 20000, 50000}};
    char *text = mr_generate_far(1, EVENTS, plants, 1);
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        mr_halt halt = {0};
        const mr_debug debug = {1u << MR_DEBUG_DISPATCH, ask_within_windows, &halt};
        const mr_predict_run run = {.debug = &debug, .halt = &halt};
        mr_config *config = mr_settings_of(settings[i]);
        mr_result result = {0};
        mr_error error = {0};
        assert_int_equal(mr_predict(trace, config, &run, &result, &error), MR_OK);
        assert_true(result.stats.incomplete && result.stats.windows_missing > 0);
        assert_int_equal(result.stats.windows, 1);
        const mr_race *race =
            find_race(trace, &result, location_of(trace, 0, 'a'), location_of(trace, 0, 'b'));
        assert_non_null(race);
        assert_int_equal(race->confirmed_by, MR_STEP_FAR);
        mr_result_free(&result);
        mr_config_free(config);
    }
    mr_trace_free(trace);
    free(text);
}

/* ---- steps that are off ---- */

typedef struct listener {
    uint32_t proofs, saturated;
} listener;

static void count_line(void *context, const char *line)
{
    listener *counts = context;
    counts->proofs += strstr(line, "bundle=") && strstr(line, "verdict=no-race");
    counts->saturated += strstr(line, "step=saturate") != NULL;
}

static listener listen(const mr_trace *trace, const char *steps)
{
    const char *const settings[] = {
        "model",        "value", "window.size", "20",   "window.far_work",
        "2000000",      "jobs",  "1",           "find", "races",
        "solver.steps", steps,   NULL};
    listener counts = {0};
    const mr_debug debug = {1u << MR_DEBUG_FAR, count_line, &counts};
    const mr_predict_run run = {.debug = &debug};
    mr_config *config = mr_settings_of(settings);
    mr_result result = {0};
    mr_error error = {0};
    assert_int_equal(mr_predict(trace, config, &run, &result, &error), MR_OK);
    mr_result_free(&result);
    mr_config_free(config);
    return counts;
}

/* Proofs about spots use saturation only when the step is on. */
static void test_no_saturation(void **state)
{
    (void)state;
    enum { EVENTS = 400 };
    listener with = {0}, without = {0};
    for (size_t s = 0; s < mr_large_shape_count; s++) {
        char *text = mr_generate_large(s + 1, &mr_large_shapes[s], EVENTS);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        listener found = listen(trace, "filter,cone,linearise,eliminate,saturate");
        with.proofs += found.proofs;
        with.saturated += found.saturated;
        found = listen(trace, "filter,cone,linearise,eliminate");
        without.proofs += found.proofs;
        without.saturated += found.saturated;
        mr_trace_free(trace);
        free(text);
    }
    print_message("%u proofs, %u by saturation; %u without the step\n", with.proofs, with.saturated,
                  without.proofs);
    assert_true(with.saturated > 0 && without.proofs > 0);
    assert_int_equal(without.saturated, 0);
}

/* ---- a window around pairs that is the far window ---- */

/* So many events of a thread that what is before them is not close to what comes after (around.c). */
static int add_sections(char *to, const char *thread)
{
    enum { SECTIONS = 30 };
    int length = 0;
    for (int i = 0; i < SECTIONS; i++)
        length += sprintf(to + length, "%s|acq(k)|k\n%s|rel(k)|k\n", thread, thread);
    return length;
}

/* Two pairs of places that race when T2 sees the value of T3 instead of that of T1. */
static void write_mixed(char *text)
{
    for (int p = 0; p < 2; p++) {
        text += p ? add_sections(text, "T1") : 0;
        text += p ? add_sections(text, "T2") : 0;
        text += sprintf(text, "T1|w(x%d=1)|p%da\n", p, p);
        text += add_sections(text, "T1");
        text += sprintf(text, "T1|w(g%d=1)|1\nT2|r(g%d=1)|2\nT3|w(g%d=1)|3\n", p, p, p);
        text += add_sections(text, "T2");
        text += sprintf(text, "T2|w(x%d=2)|p%db\n", p, p);
    }
}

typedef struct mixture {
    char whole[64]; /* what a line says of a mixture that is the far window */
    uint32_t count;
} mixture;

static void count_mixtures(void *context, const char *line)
{
    mixture *m = context;
    m->count += strstr(line, m->whole) != NULL;
}

/* A mixture shares the columns of the far window, but reads stay by value in the far window itself. Later questions about
 * that find the races: in the mixture T2 has to see what T1 writes. */
static void test_mixture_of_the_far_window(void **state)
{
    (void)state;
    static const char *const settings[] = {"model", "value", "window.size",  "50",
                                           "jobs",  "1",     "solver.steps", "filter,cone,saturate",
                                           NULL};
    char text[8192];
    write_mixed(text);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mixture seen = {.count = 0};
    snprintf(seen.whole, sizeof seen.whole, "size=%" PRIu64 " model=value way=mixed",
             (uint64_t)trace->event_count);
    const mr_debug debug = {1u << MR_DEBUG_FAR, count_mixtures, &seen};
    const mr_predict_run run = {.debug = &debug};
    mr_config *config = mr_settings_of(settings);
    mr_result result = {0};
    mr_error error = {0};
    assert_int_equal(mr_predict(trace, config, &run, &result, &error), MR_OK);
    mr_predicted_check(trace, &result);
    assert_int_equal(seen.count, 1);
    for (uint32_t p = 0; p < 2; p++)
        assert_non_null(
            find_race(trace, &result, location_of(trace, p, 'a'), location_of(trace, p, 'b')));
    assert_int_equal(result.stats.far_no_race, 0);
    assert_int_equal(result.unknown_count, 0);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_races_of_the_orders),
        cmocka_unit_test(test_budget_bites),
        cmocka_unit_test(test_budget_of_stricter_models),
        cmocka_unit_test(test_how_far),
        cmocka_unit_test(test_small_far_windows),
        cmocka_unit_test(test_bundle_of_a_free),
        cmocka_unit_test(test_ended_within_wcp),
        cmocka_unit_test(test_ended_within_windows),
        cmocka_unit_test(test_no_saturation),
        cmocka_unit_test(test_mixture_of_the_far_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
