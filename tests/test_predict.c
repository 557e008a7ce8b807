/* The driver from windows to races: overlap, far races, order of the result, traces with little in
 * them, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/predict.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/generate_large.h"
#include "support/order_reference.h"
#include "support/predicted.h"
#include "support/sample.h"
#include "support/shb_races.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS = 6 };

/* Keys and values in turn. */
typedef const char *settings[2 * SETTINGS + 1];

/* "1-6 2-3" */
static void print_races(const mr_result *result, char *out)
{
    *out = '\0';
    for (size_t i = 0; i < result->race_count; i++)
        out += sprintf(out, "%s%" PRIu32 "-%" PRIu32, i ? " " : "", result->races[i].witness.first,
                       result->races[i].witness.second);
}

typedef struct known {
    const char *name, *text;
    settings settings;
    const char *races;
} known;

/* Two writes of x, far apart. */
#define FAR "A|w(x)|1\nC|w(y)|3\nC|w(y)|3\nC|w(y)|3\nC|w(y)|3\nC|w(y)|3\nC|w(y)|3\nB|w(x)|2\n"
/* The same pair of locations, three event pairs. */
#define THREE "A|w(x)|1\nB|w(x)|2\nC|w(y)|3\nA|w(x)|1\nB|w(y)|3\n"

static const known table[] = {
    {"no events", "", {NULL}, ""},
    {"no accesses",
     "A|acq(l)|1\nA|rel(l)|2\nB|acq(l)|3\nB|rel(l)|4\nA|fork(C)|5\nC|begin()|6\n",
     {NULL},
     ""},
    {"one thread", "A|w(x=1)|1\nA|r(x=1)|2\nA|w(x=2)|3\n", {NULL}, ""},
    {"one event", "A|w(x)|1\n", {NULL}, ""},
    {"reads only", "A|r(x)|1\nB|r(x)|2\n", {NULL}, ""},
    {"a window larger than the trace",
     "A|w(x)|1\nB|w(x)|2\n",
     {"window.size", "4294967293", "window.overlap", "4294967292", NULL},
     "0-1"},
    {"no windows", "A|w(x)|1\nB|w(x)|2\n", {"window.size", "0", NULL}, "0-1"},
    {"overlapping windows report a race once",
     "C|w(y)|3\nA|w(x)|1\nB|w(x)|2\nC|w(y)|3\nC|w(y)|3\n",
     {"window.size", "3", "window.overlap", "2", "candidates.report", "event", NULL},
     "1-2"},
    {"a race at the seam of two windows",
     "C|w(y)|3\nA|w(x)|1\nB|w(x)|2\nC|w(y)|3\n",
     {"window.size", "2", "window.overlap", "0", "candidates.far", "none", NULL},
     ""},
    {"and with an overlap",
     "C|w(y)|3\nA|w(x)|1\nB|w(x)|2\nC|w(y)|3\n",
     {"window.size", "2", "window.overlap", "1", "candidates.far", "none", NULL},
     "1-2"},
    {"farther apart than a window",
     FAR,
     {"window.size", "4", "window.overlap", "2", "candidates.far", "none", NULL},
     ""},
    {"and looked for with SHB",
     FAR,
     {"window.size", "4", "window.overlap", "2", "candidates.far", "shb", NULL},
     "0-7"},
    {"not when every event pair is asked for",
     FAR,
     {"window.size", "4", "window.overlap", "2", "candidates.report", "event", NULL},
     ""},
    {"not when the location is ignored",
     FAR,
     {"window.size", "4", "window.overlap", "2", "candidates.ignore_locations", "2", NULL},
     ""},
    {"static: one event pair for each pair of locations",
     THREE,
     {"candidates.report", "static", NULL},
     "0-1 2-4"},
    {"event: all of them", THREE, {"candidates.report", "event", NULL}, "0-1 1-3 2-4"},
    {"ignored locations", THREE, {"candidates.ignore_locations", "7,,2,", NULL}, "2-4"},
    {"locations ignored by a pattern", THREE, {"candidates.ignore_locations", "[27]", NULL}, "2-4"},
    {"only some locations", THREE, {"candidates.only_locations", "3,2", NULL}, "2-4"},
    {"only some locations, of which some are ignored",
     THREE,
     {"candidates.only_locations", "[12]", "candidates.ignore_locations", "2", NULL},
     ""},
    {"the join of a thread without events needs neither its fork nor what is before that",
     "A|fork(B)|1\nB|w(x)|2\nA|join(B)|3\nA|fork(C)|4\nD|join(C)|5\nD|fork(E)|6\nE|w(x)|7\n",
     {NULL},
     "1-6"},
    {"all locations ignored", THREE, {"candidates.ignore_locations", "1,2,3", NULL}, ""},
    {"the result is in the order of the second access",
     "A|w(x)|1\nA|w(y)|2\nA|w(z)|3\nB|w(z)|4\nB|w(y)|5\nB|w(x)|6\n",
     {NULL},
     "2-3 1-4 0-5"},
    {"rf",
     "C|w(x=1)|1\nA|w(y=1)|2\nA|w(x=1)|3\nB|r(x=1)|4\nB|w(y=2)|5\n",
     {"model", "rf", "candidates.report", "event", NULL},
     "0-2 0-3 2-3"},
    {"value",
     "C|w(x=1)|1\nA|w(y=1)|2\nA|w(x=1)|3\nB|r(x=1)|4\nB|w(y=2)|5\n",
     {"model", "value", "candidates.report", "event", NULL},
     "0-2 0-3 2-3 1-4"},
};

static void test_known(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const known *k = &table[i];
        mr_trace *trace = mr_sample_trace(k->text);
        assert_non_null(trace);
        mr_result result = mr_predicted_right(trace, k->settings);
        char found[256];
        print_races(&result, found);
        if (strcmp(found, k->races) != 0 || result.unknown_count) {
            print_error("%s: '%s', expected '%s'; %zu unknown\n", k->name, found, k->races,
                        result.unknown_count);
            wrong++;
        }
        mr_result_free(&result);
        mr_trace_free(trace);
    }
    assert_int_equal(wrong, 0);
}

static void test_far_race(void **state)
{
    (void)state;
    static const char *const far[] = {"window.size", "4", "window.overlap", "2", NULL};
    mr_trace *trace = mr_sample_trace(FAR);
    assert_non_null(trace);
    mr_result result = mr_predicted_right(trace, far);
    assert_int_equal(result.race_count, 1);
    assert_int_equal(result.races[0].confirmed_by, MR_STEP_FAR);
    assert_int_equal(result.races[0].strength, MR_STRENGTH_HB);
    assert_int_equal(result.races[0].witness.window_start, 0);
    assert_int_equal(result.races[0].witness.window_end, 8);
    assert_int_equal(result.stats.races[MR_STEP_FAR], 1);
    assert_int_equal(result.stats.static_races, 1);
    mr_result_free(&result);
    mr_trace_free(trace);
}

/* Is there a race at this pair of locations in the result? */
static bool has_static(const mr_trace *trace, const mr_result *result, uint32_t one, uint32_t two)
{
    for (size_t i = 0; i < result->race_count; i++) {
        uint32_t x = trace->location[result->races[i].witness.first];
        uint32_t y = trace->location[result->races[i].witness.second];
        if ((x == one && y == two) || (x == two && y == one))
            return true;
    }
    return false;
}

/* With tiny windows and far races, every static race of SHB is found all the same. */
static void test_every_shb_race(void **state)
{
    (void)state;
    static const char *const tiny[] = {"window.size", "5", "window.overlap", "2", NULL};
    size_t far = 0;
    for (uint64_t seed = 0; seed < 24; seed++) {
        const mr_large *shape = &mr_large_shapes[seed % mr_large_shape_count];
        char *text = mr_generate_large(seed, shape, 300);
        assert_non_null(text);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        mr_result result = mr_predicted_right(trace, tiny);
        mr_shb_races races = {0};
        mr_error error = {0};
        assert_int_equal(mr_shb_find(trace, &races, &error), MR_OK);
        for (size_t i = 0; i < races.count; i++)
            if (!has_static(trace, &result, trace->location[races.items[i].first],
                            trace->location[races.items[i].second]))
                fail_msg("%" PRIu32 "-%" PRIu32 " is lost:\n%s", races.items[i].first,
                         races.items[i].second, text);
        far += result.stats.races[MR_STEP_FAR];
        mr_shb_races_free(&races);
        mr_result_free(&result);
        mr_trace_free(trace);
        free(text);
    }
    assert_true(far > 100);
}

/* A prefilter finds each static race that has an event pair of its strength, also when only one
 * event pair stands for others. */
static void test_static_races_of_a_prefilter(void **state)
{
    (void)state;
    static const char *const names[] = {"hb", "wcp"};
    for (uint64_t seed = 0; seed < 900; seed++) {
        char *text = mr_generate_trace(seed + 80000, (mr_shape)(seed % MR_SHAPE_COUNT));
        assert_non_null(text);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        const char *const s[] = {"candidates.prefilter", names[seed / 2 % 2], "candidates.far",
                                 "none", NULL};
        mr_order_reference orders;
        mr_exhaustive races;
        mr_order_reference_build(&orders, trace);
        assert_true(mr_exhaustive_find(trace, MR_MODEL_VALUE, 0, trace->event_count, &races));
        mr_result result = mr_predicted_right(trace, s);
        const mr_order_matrix *order = seed / 2 % 2 ? &orders.wcp : &orders.hb;
        for (size_t i = 0; i < races.race_count; i++) {
            uint32_t a = races.races[i].first, b = races.races[i].second;
            if (!mr_order_matrix_has(order, a, b) &&
                !has_static(trace, &result, trace->location[a], trace->location[b]))
                fail_msg("prefilter %s loses %" PRIu32 "-%" PRIu32 ":\n%s", s[1], a, b, text);
        }
        mr_result_free(&result);
        mr_exhaustive_free(&races);
        mr_trace_free(trace);
        free(text);
    }
}

static void test_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        settings settings;
        mr_status status;
        const char *line; /* of the error, its beginning */
    } cases[] = {
        {"A|w(x)|1\nB|w(x)|2\n",
         {"window.size", "1", "window.overlap", "1", NULL},
         MR_ERR_CONFIG,
         ""},
        {"A|w(x)|1\nB|w(x)|2\n",
         {"window.size", "5", "window.overlap", "9", NULL},
         MR_ERR_CONFIG,
         ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_trace *trace = mr_sample_trace(cases[i].text);
        assert_non_null(trace);
        mr_config *config = mr_settings_of(cases[i].settings);
        mr_result result = {0};
        mr_error error = {0};
        char line[1200];
        assert_int_equal(mr_predict(trace, config, NULL, &result, &error), cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        mr_error_line(&error, line, sizeof line);
        assert_memory_equal(line, cases[i].line, strlen(cases[i].line));
        assert_true(strlen(error.text) > 10 && !strchr(error.text, '\n'));
        mr_result_free(&result);
        mr_config_free(config);
        mr_trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),          cmocka_unit_test(test_far_race),
        cmocka_unit_test(test_every_shb_race), cmocka_unit_test(test_static_races_of_a_prefilter),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
