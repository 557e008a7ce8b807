/* hard: small members of the families of hard traces (bench/hard.h), of many seeds, against
 * exhaustive search: each pair of events in one window, of nests also by clauses on demand alone, and each pair
 * of places over windows of a few events with the far races, and in one window as if each question
 * were hard, in the models rf and value. And when a round of far proofs ends, and what walks
 * pass over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/trace_reading.h"

#include "bench/hard.h"
#include "predict/crowded.h"
#include "predict/settings.h"
#include "support/exhaustive.h"
#include "support/length.h"
#include "support/predicted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each query of Z3 costs a millisecond or more, so one seed in HARD_EACH is asked as if all were hard. */
enum { SEEDS = 40, SHARE_SEEDS = 16, HARD_EACH = 4 };

static mr_trace *make(const mr_hard_shape *small, uint64_t seed)
{
    mr_hard_shape shape = *small;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    shape.seed = seed;
    assert_non_null(out);
    assert_true(mr_hard_write(&shape, out));
    assert_int_equal(fclose(out), 0);
    mr_trace *trace = mr_test_read(text, false); /* refuses what is not valid */
    free(text);
    return trace;
}

static bool same_places(const mr_trace *trace, const mr_pair *one, const mr_witness *other)
{
    uint32_t a = trace->location[one->first], b = trace->location[one->second];
    uint32_t x = trace->location[other->first], y = trace->location[other->second];
    return (a == x && b == y) || (a == y && b == x);
}

/* Every race of the search is reported, as a pair of events or of places, and nothing else is. */
static void compare(const mr_trace *trace, const mr_exhaustive *search, const mr_result *result,
                    bool by_event)
{
    assert_int_equal(result->unknown_count, 0);
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_witness *it = &result->races[i].witness;
        assert_true(mr_exhaustive_has(search, it->first, it->second));
    }
    for (size_t r = 0; r < search->race_count; r++) {
        const mr_pair *race = &search->races[r];
        bool found = false;
        for (size_t i = 0; i < result->race_count && !found; i++) {
            const mr_witness *it = &result->races[i].witness;
            found = by_event ? it->first == race->first && it->second == race->second
                             : same_places(trace, race, it);
        }
        assert_true(found);
    }
}

static size_t examine(const mr_trace *trace, mr_model model, bool is_hard)
{
    const char *name = mr_model_name(model);
    const char *const events[] = {"model", name, "candidates.report", "event", NULL};
    const char *const lazy[] = {"model", name, "candidates.report", "event", "solver.steps",
                                "lazy",  NULL};
    const char *const places[] = {"model", name, "window.size", "8", "window.overlap", "4", NULL};
    const char *const hard[] = {"model",
                                name,
                                "solver.saturate_steps",
                                "1",
                                "solver.steps",
                                "filter,cone,saturate,lazy",
                                "candidates.far",
                                "none",
                                NULL};
    const char *const crowded[] = {"model", name, "candidates.crowded", "1", NULL};
    mr_exhaustive search;
    assert_true(mr_exhaustive_find(trace, model, 0, trace->event_count, &search));
    size_t races = search.race_count;
    mr_result result = mr_predicted_right(trace, events);
    compare(trace, &search, &result, true);
    mr_result_free(&result);
    if (trace->locks.count > 1) { /* nests */
        result = mr_predicted_right(trace, lazy);
        compare(trace, &search, &result, true);
        mr_result_free(&result);
    }
    result = mr_predicted_right(trace, places);
    compare(trace, &search, &result, false);
    mr_result_free(&result);
    result = mr_predicted_right(trace, crowded);
    compare(trace, &search, &result, false);
    mr_result_free(&result);
    if (is_hard) {
        result = mr_predicted_right(trace, hard);
        compare(trace, &search, &result, false);
        mr_result_free(&result);
    }
    mr_exhaustive_free(&search);
    return races;
}

/* The step explore runs an acquire late where nobody waits for it. Here a join waits for one, then an opaque call. In the
 * third trace an access comes after an acquire, and another thread frees the object before the thread can go on. */
static void explore_runs_what_others_wait_for(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "T2|acq(l)|7\nT2|rel(l)|8\nT0|fork(T1)|1\nT1|w(y)|2\nT1|acq(l)|3\nT0|join(T1)|4\n"
        "T0|w(x)|5\nT2|w(x)|6\n",
        "T3|acq(l)|1\nT3|rel(l)|2\nT1|acq(l)|3\nT2|mbegin(m:l,x)|4\nT2|w(x)|5\nT2|mend(m)|6\n"
        "T0|w(x)|7\nT1|w(x)|8\n",
        "#@in y o\n"
        "T1|alloc(o)|1\nT1|acq(l)|2\nT1|rel(l)|3\nT0|acq(l)|4\nT0|w(y=1)|5\nT1|free(o)|6\n"
        "T1|w(z=1)|7\nT0|r(z=1)|8\nT0|rel(l)|9\nT0|w(x=1)|10\nT1|w(x=2)|11\n",
    };
    const char *const settings[] = {"solver.steps",
                                    "filter,cone,explore",
                                    "candidates.report",
                                    "event",
                                    "candidates.far",
                                    "none",
                                    "window.overlap",
                                    "0",
                                    NULL};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mr_trace *trace = mr_test_read(texts[i], false);
        mr_exhaustive search;
        assert_true(mr_exhaustive_find(trace, MR_MODEL_VALUE, 0, trace->event_count, &search));
        assert_true(search.race_count > 0);
        mr_result result = mr_predicted_right(trace, settings);
        compare(trace, &search, &result, true);
        mr_result_free(&result);
        mr_exhaustive_free(&search);
        mr_trace_free(trace);
    }
}

/* The races beyond small windows are those of one window over all, where states of two threads each prove that most other pairs of
 * places have none. */
static void wide_has_the_races_of_one_window(void **state)
{
    (void)state;
    static const mr_hard_shape shapes[] = {
        {.family = MR_HARD_WIDE, .events = 3000, .threads = 6, .values = 8},
        {.family = MR_HARD_WIDE, .events = 2500, .threads = 6, .values = 4}};
    static const char *const sizes[] = {"100", "0"};
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            mr_trace *trace = make(&shapes[i], seed);
            uint32_t races[2];
            for (size_t k = 0; k < 2; k++) {
                const char *const settings[] = {"model", "value", "window.size", sizes[k], NULL};
                mr_result result = mr_predicted_right(trace, settings);
                assert_int_equal(result.unknown_count, 0);
                races[k] = (uint32_t)result.race_count;
                mr_result_free(&result);
            }
            assert_int_equal(races[0], races[1]);
            assert_true(races[0] > 0);
            mr_trace_free(trace);
        }
}

/* The races of the result, as sorted pairs of places and their first events. */
static char *list_races(const mr_trace *trace, const mr_result *result, bool with_events)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    bool *has = calloc((size_t)trace->locations.count * trace->locations.count, sizeof *has);
    assert_non_null(has);
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_witness *it = &result->races[i].witness;
        uint32_t a = trace->location[it->first], b = trace->location[it->second];
        has[(size_t)(a < b ? a : b) * trace->locations.count + (a < b ? b : a)] = true;
        if (with_events)
            fprintf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", it->first, it->second,
                    it->window_start);
    }
    for (size_t i = 0; i < (size_t)trace->locations.count * trace->locations.count; i++)
        if (has[i])
            fprintf(out, "%zu\n", i);
    free(has);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* How often all races among what may be together were looked for to the end. */
typedef struct survey_counts {
    bool together; /* the last line told of states of two threads each */
    uint32_t complete;
} survey_counts;

/* mr_debug.write */
static void count_survey(void *context, const char *line)
{
    survey_counts *counts = context;
    counts->complete += counts->together && strstr(line, "survey result=all");
    counts->together = strstr(line, "together=all");
}

typedef struct question_counts {
    uint32_t by_z3;
    uint64_t most_explored; /* states, in one question */
} question_counts;

/* mr_debug.write */
static void count_question(void *context, const char *line)
{
    question_counts *counts = context;
    counts->by_z3 += strstr(line, "step=lazy") || strstr(line, "step=z3");
    const char *effort = strstr(line, "effort=");
    if (strstr(line, "step=explore") && effort) {
        uint64_t count = strtoull(effort + strlen("effort="), NULL, 10);
        counts->most_explored = count > counts->most_explored ? count : counts->most_explored;
    }
}

/* With more states than a survey may look at questions are short, and Z3 is asked nothing: in a window, then in the far window. */
static void questions_are_bounded_where_states_are_many(void **state)
{
    (void)state;
    enum { MOST_EXPLORED = 2000000 };
    static const struct {
        uint32_t events;
        const char *window, *steps;
    } rows[] = {{5000, "0", "10000"}, {3000, "300", "1000"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const mr_hard_shape shape = {.family = MR_HARD_NESTED,
                                     .events = rows[i].events,
                                     .threads = 6,
                                     .depth = 60,
                                     .values = 8,
                                     .backs_off = true};
        const char *const settings[] = {"model",
                                        "value",
                                        "jobs",
                                        "1",
                                        "find",
                                        "races",
                                        "window.size",
                                        rows[i].window,
                                        "solver.saturate_steps",
                                        rows[i].steps,
                                        NULL};
        question_counts counts = {0};
        mr_trace *trace = make(&shape, 1);
        mr_config *config = mr_settings_of(settings);
        const mr_debug debug = {1u << MR_DEBUG_STEPS, count_question, &counts};
        const mr_predict_run run = {.debug = &debug};
        mr_result result = {0};
        mr_error error = {0};
        assert_int_equal(mr_predict(trace, config, &run, &result, &error), MR_OK);
        assert_true(result.unknown_count > 0);
        assert_true(counts.most_explored > 0 && counts.most_explored < MOST_EXPLORED);
        assert_int_equal(counts.by_z3, 0);
        mr_result_free(&result);
        mr_config_free(config);
        mr_trace_free(trace);
    }
}

/* With so few steps that the search for all far races gives up. Those that the states of each two threads leave are decided at once. */
static void nests_have_the_races_of_one_window(void **state)
{
    (void)state;
    const mr_hard_shape shape = {.family = MR_HARD_NESTED,
                                 .events = 600,
                                 .threads = 5,
                                 .depth = 6,
                                 .values = 4,
                                 .backs_off = true};
    static const char *const small[] = {"model",
                                        "value",
                                        "window.size",
                                        "50",
                                        "jobs",
                                        "1",
                                        "solver.steps",
                                        "filter,cone,eliminate,explore",
                                        "solver.saturate_steps",
                                        "1",
                                        NULL};
    static const char *const one[] = {"model", "value", "window.size", "0", NULL};
    survey_counts counts = {0};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        mr_trace *trace = make(&shape, seed);
        mr_config *config = mr_settings_of(small);
        const mr_debug debug = {1u << MR_DEBUG_SEARCH, count_survey, &counts};
        const mr_predict_run run = {.debug = &debug};
        mr_result result = {0};
        mr_error error = {0};
        assert_int_equal(mr_predict(trace, config, &run, &result, &error), MR_OK);
        assert_int_equal(result.unknown_count, 0);
        char *far = list_races(trace, &result, false);
        mr_result_free(&result);
        result = mr_predicted_right(trace, one);
        char *whole = list_races(trace, &result, false);
        assert_string_equal(far, whole);
        free(far);
        free(whole);
        mr_result_free(&result);
        mr_config_free(config);
        mr_trace_free(trace);
    }
    assert_true(counts.complete > 0);
}

/* Many possible deadlocks of circles fall at a glance when the precedence of the whole window is raised first: three of ten with what
 * there is to spend here, one of ten without. */
static void circles_fall_by_raised_precedence(void **state)
{
    (void)state;
    const mr_hard_shape shape = {.family = MR_HARD_CIRCLES,
                                 .events = 2500,
                                 .threads = 6,
                                 .depth = 12,
                                 .values = 4,
                                 .backs_off = true};
    static const char *const settings[] = {"find", "deadlocks", "window.far_work", "20000", NULL};
    uint64_t settled = 0, candidates = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        mr_trace *trace = make(&shape, seed);
        mr_result result = mr_predicted_right(trace, settings);
        const mr_finding_stats *stats = &result.stats.findings[MR_WITNESS_DEADLOCK];
        candidates += stats->candidates;
        settled += stats->found + stats->impossible;
        mr_result_free(&result);
        mr_trace_free(trace);
    }
    print_message("circles: %" PRIu64 " of %" PRIu64 " settled\n", settled, candidates);
    assert_true(settled > candidates / 5);
}

static void small_members_agree_with_exhaustive_search(void **state)
{
    (void)state;
    const uint64_t seeds = mr_length("HARD_SEEDS", SHARE_SEEDS, SEEDS);
    for (size_t i = 0; i < mr_hard_small_count; i++) {
        size_t races = 0;
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            mr_trace *trace = make(&mr_hard_small[i], seed);
            races += examine(trace, MR_MODEL_RF, seed % HARD_EACH == 0);
            races += examine(trace, MR_MODEL_VALUE, seed % HARD_EACH == 0);
            mr_trace_free(trace);
        }
        print_message("%s: %zu races\n", mr_hard_small[i].name, races);
        assert_true(races > 0 || mr_length_few());
    }
}

static char *races_with(const mr_trace *trace, const char *model, const char *crowded,
                        const char *jobs, bool with_events)
{
    const char *const settings[] = {"model", model, "candidates.crowded", crowded, "jobs",
                                    jobs,    NULL};
    mr_result result = mr_predicted_right(trace, settings);
    char *text = list_races(trace, &result, with_events);
    assert_int_equal(result.unknown_count, 0);
    mr_result_free(&result);
    return text;
}

/* Members of some units, so that small windows lie across the bounds of units: the same pairs of places race
 * with and without the search for close races, and any number of threads finds the same. The second unit of the
 * first member is so short that the small windows of the first one reach its end. */
static void close_races_change_no_verdict(void **state)
{
    (void)state;
    static const mr_hard_shape shapes[] = {
        {"adding", MR_HARD_ADDING, 16500, 3, 0, 6, 1000, false, 1},
        {"hot", MR_HARD_HOT, 1500, 3, 0, 10, 8, false, 2},
        {"wide", MR_HARD_WIDE, 1500, 5, 0, 0, 4, false, 3},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        mr_trace *trace = make(&shapes[i], shapes[i].seed);
        for (int model = MR_MODEL_RF; model <= MR_MODEL_VALUE; model++) {
            const char *name = mr_model_name((mr_model)model);
            char *without = races_with(trace, name, "0", "1", false);
            char *with = races_with(trace, name, "1", "1", false);
            char *one = races_with(trace, name, "1", "1", true);
            char *two = races_with(trace, name, "1", "2", true);
            assert_string_equal(with, without);
            assert_string_equal(one, two);
            free(without);
            free(with);
            free(one);
            free(two);
        }
        mr_trace_free(trace);
    }
}

/* With more than 32 threads at a time the effort of a window follows its events, unless there is no limit. */
static void windows_of_many_threads_are_bounded(void **state)
{
    (void)state;
    enum { STEPS_OF_EVENT = 16384 };
    static const char *const no_limit[] = {"candidates.max_window_steps", "0", NULL};
    static const char *const shipped[] = {NULL};
    static const uint32_t threads[] = {8, 40};
    for (size_t i = 0; i < 4; i++) {
        const mr_hard_shape shape = {
            .family = MR_HARD_WIDE, .events = 4000, .threads = threads[i / 2], .values = 4};
        mr_trace *trace = make(&shape, 1);
        mr_config *config = mr_settings_of(i % 2 ? no_limit : shipped);
        mr_predict_settings settings;
        mr_error error = {0};
        assert_int_equal(mr_predict_settings_read(&settings, trace, config, &error), MR_OK);
        uint64_t steps = (uint64_t)mr_config_int(config, "candidates.max_window_steps");
        if (i == 2)
            steps = (uint64_t)trace->event_count * STEPS_OF_EVENT;
        assert_int_equal(settings.max_window_steps, steps);
        mr_predict_settings_free(&settings);
        mr_config_free(config);
        mr_trace_free(trace);
    }
}

static void large_members_are_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < mr_hard_large_count; i++) {
        mr_hard_shape shape = mr_hard_large[i];
        if (shape.events > 200000)
            continue;
        mr_trace *trace = make(&shape, shape.seed);
        assert_true(trace->event_count >= shape.events / 2);
        mr_trace_free(trace);
    }
}

enum { MOST_BUNDLES = 100 };

/* What lines of far questions tell of bundles of pairs of places: which ones, and how many were asked about again. */
typedef struct listener {
    char *bundles[MOST_BUNDLES];
    uint32_t asked, again, proofs;
} listener;

/* mr_debug.write */
static void count_bundle(void *context, const char *line)
{
    listener *counts = context;
    const char *bundle = strstr(line, "bundle="), *verdict = strstr(line, " verdict=");
    if (!bundle || !verdict)
        return;
    counts->proofs += strstr(verdict, "=no-race") != NULL;
    for (uint32_t i = 0; i < counts->asked; i++)
        if (strncmp(counts->bundles[i], bundle, (size_t)(verdict - bundle)) == 0) {
            counts->again++;
            return;
        }
    assert_true(counts->asked < MOST_BUNDLES);
    counts->bundles[counts->asked] = strdup(bundle);
    assert_non_null(counts->bundles[counts->asked++]);
}

/* Where most pairs of places race, a round of far proofs ends when eight bundles have none. There is a look at each of them
 * before. */
static void proofs_in_vain_end(void **state)
{
    (void)state;
    enum { MOST_IN_VAIN = 8 };
    const mr_hard_shape shape = {.name = "hot",
                                 .family = MR_HARD_HOT,
                                 .events = 3000,
                                 .threads = 4,
                                 .places = 25,
                                 .values = 3};
    const char *const text[] = {"model", "value", "window.size", "100", "jobs", "1", NULL};
    mr_trace *trace = make(&shape, 2);
    mr_config *config = mr_settings_of(text);
    listener counts = {0};
    const mr_debug debug = {1u << MR_DEBUG_FAR, count_bundle, &counts};
    const mr_predict_run run = {.debug = &debug};
    mr_result result = {0};
    mr_error error = {0};
    assert_int_equal(mr_predict(trace, config, &run, &result, &error), MR_OK);
    assert_int_equal(result.unknown_count, 0);
    assert_true(counts.asked > 2 * MOST_IN_VAIN);
    assert_int_equal(counts.proofs, 0);
    assert_int_equal(counts.again, MOST_IN_VAIN);
    for (uint32_t i = 0; i < counts.asked; i++)
        free(counts.bundles[i]);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
}

/* Walks in unit `unit` of a round that has the races of `round` so far. */
static mr_outcome *walk_unit(const mr_predict_settings *settings, uint32_t number,
                             mr_known_races *round, uint64_t unit)
{
    mr_worker worker;
    mr_error error = {0};
    const mr_crowded_known known = {.earlier = mr_known_races_new(), .round = round};
    mr_outcome *outcome = mr_outcome_new(unit);
    assert_true(known.earlier && outcome);
    assert_int_equal(mr_worker_init(&worker, settings, known.earlier, &error), MR_OK);
    assert_int_equal(mr_crowded_search(&worker, number, &known, outcome, &error), MR_OK);
    mr_worker_free(&worker);
    mr_known_races_free(known.earlier);
    return outcome;
}

/* A walk passes over the race of two places that a lower unit of its round has proven, and looks for the others as before. What a
 * higher unit has proven by now does not matter. */
static void check_walks(const mr_predict_settings *settings, uint32_t number)
{
    enum { UNIT = 1 };
    mr_known_races *round = mr_known_races_new(), *none = mr_known_races_new();
    assert_true(round && none);
    mr_outcome *all = walk_unit(settings, number, none, UNIT);
    assert_true(all->count >= 6);
    for (size_t i = 0; i < all->count; i++)
        if (i % 3 != 2)
            assert_true(mr_known_races_add(round, all->verdicts[i].key_1, all->verdicts[i].key_2,
                                           i % 3 ? UNIT + 1 : UNIT - 1));
    mr_outcome *left = walk_unit(settings, number, round, UNIT);
    assert_int_equal(left->count, all->count - (all->count + 2) / 3);
    for (size_t i = 0, k = 0; i < all->count; i++) {
        if (i % 3 == 0)
            continue;
        const mr_pair_verdict *expected = &all->verdicts[i], *found = &left->verdicts[k++];
        assert_int_equal(found->key_1, expected->key_1);
        assert_int_equal(found->key_2, expected->key_2);
        assert_int_equal(found->race.witness.first, expected->race.witness.first);
        assert_int_equal(found->race.witness.second, expected->race.witness.second);
    }
    print_message("%zu races of walks, %zu left\n", all->count, left->count);
    mr_outcome_free(all);
    mr_outcome_free(left);
    mr_known_races_free(round);
    mr_known_races_free(none);
}

static void walks_pass_over_what_lower_units_prove(void **state)
{
    (void)state;
    /* The second unit begins after 16,384 events, so that it is small. */
    const mr_hard_shape shape = {.name = "hot",
                                 .family = MR_HARD_HOT,
                                 .events = 17000,
                                 .threads = 3,
                                 .places = 12,
                                 .values = 8};
    const char *const text[] = {"model", "value", "jobs", "1", NULL};
    mr_trace *trace = make(&shape, 2);
    mr_config *config = mr_settings_of(text);
    mr_predict_settings settings;
    mr_error error = {0};
    uint32_t number = 0;
    assert_int_equal(mr_predict_settings_read(&settings, trace, config, &error), MR_OK);
    while (!mr_crowded_is_walk(number))
        number++;
    assert_int_equal(mr_crowded_units(trace, number), 2);
    check_walks(&settings, number);
    mr_predict_settings_free(&settings);
    mr_config_free(config);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_in_vain_end),
        cmocka_unit_test(walks_pass_over_what_lower_units_prove),
        cmocka_unit_test(explore_runs_what_others_wait_for),
        cmocka_unit_test(wide_has_the_races_of_one_window),
        cmocka_unit_test(nests_have_the_races_of_one_window),
        cmocka_unit_test(questions_are_bounded_where_states_are_many),
        cmocka_unit_test(small_members_agree_with_exhaustive_search),
        cmocka_unit_test(circles_fall_by_raised_precedence),
        cmocka_unit_test(close_races_change_no_verdict),
        cmocka_unit_test(windows_of_many_threads_are_bounded),
        cmocka_unit_test(large_members_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
