/* Comparing relations: lists of finders, counts, containments, and every form of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/containment.h"
#include "report/comparison.h"

#include "support/generate.h"
#include "support/sample.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = (1U << MR_FINDER_COUNT) - 1, TRACES = 300 };

static void test_lists(void **state)
{
    (void)state;
    unsigned finders;
    mr_error error;
    assert_int_equal(
        mr_finder_parse("hb,fhb,shb,cp,wcp,syncp,c17,hybrid,rf,value,branch", &finders, &error),
        MR_OK);
    assert_int_equal(finders, ALL);
    assert_int_equal(mr_finder_parse(" value, hb ,", &finders, &error), MR_OK);
    assert_int_equal(finders, 1U << MR_FINDER_VALUE | 1U << MR_RELATION_HB);
    assert_int_equal(mr_finder_parse("hb,sbh", &finders, &error), MR_ERR_CONFIG);
    assert_non_null(strstr(error.text, "'sbh'"));
    assert_int_equal(mr_finder_parse(" ,", &finders, &error), MR_ERR_CONFIG);
    assert_non_null(strstr(error.text, "empty"));
}

/* Accesses that SHB orders, as the last write is read, and that race all the same: hb, cp and wcp
 * see them unordered, rf needs the write before the read. */
static const char *const sample = "T1|w(x=1)|a\nT2|r(x=1)|b\nT2|w(x=2)|c|d\nT3|r(y=0)|\"e\"\n";

static mr_comparison compare(const mr_trace *trace, unsigned finders)
{
    mr_comparison comparison;
    mr_error error = {0};
    mr_config *config = mr_config_new();
    assert_non_null(config);
    assert_int_equal(mr_compare(trace, config, finders, NULL, NULL, &comparison, &error), MR_OK);
    mr_config_free(config);
    return comparison;
}

static void test_sample(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    mr_comparison comparison = compare(trace, ALL);
    const mr_finder_figures *findings = comparison.findings;
    assert_int_equal(findings[MR_RELATION_HB].static_races, 2);
    assert_int_equal(findings[MR_RELATION_HB].racy_events, 2);
    assert_int_equal(findings[MR_RELATION_WCP].static_races, 2);
    assert_int_equal(findings[MR_RELATION_SHB].static_races, 1);
    assert_int_equal(findings[MR_FINDER_RF].static_races, 1);
    assert_int_equal(findings[MR_FINDER_VALUE].static_races, 1);
    assert_int_equal(findings[MR_FINDER_BRANCH].static_races, 2); /* the read may see nothing */
    assert_false(findings[MR_FINDER_VALUE].counts_events);
    assert_int_equal(comparison.race_count, 2);
    assert_int_equal(comparison.races[0].found_by, ALL);
    assert_int_equal(comparison.races[1].found_by,
                     1U << MR_RELATION_HB | 1U << MR_RELATION_CP | 1U << MR_RELATION_WCP |
                         1U << MR_RELATION_HYBRID | 1U << MR_FINDER_BRANCH);
    assert_int_equal(comparison.breach_count, 0);
    mr_comparison_free(&comparison);
    comparison = compare(trace, 1U << MR_RELATION_WCP | 1U << MR_FINDER_RF);
    assert_int_equal(comparison.findings[MR_RELATION_WCP].only, 1);
    assert_int_equal(comparison.findings[MR_FINDER_RF].only, 0);
    assert_false(comparison.findings[MR_RELATION_HB].done);
    mr_comparison_free(&comparison);
    mr_trace_free(trace);
}

static void test_random_traces(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TRACES; i++) {
        char *text = mr_generate_trace(1000 + i, (mr_shape)(i % MR_SHAPE_COUNT));
        mr_trace *trace = mr_sample_trace(text);
        mr_comparison comparison = compare(trace, ALL);
        if (comparison.breach_count > 0) {
            char line[512];
            mr_breach_line(&comparison, &comparison.breaches[0], line, sizeof line);
            fail_msg("%s\n%s", line, text);
        }
        mr_comparison_free(&comparison);
        mr_trace_free(trace);
        free(text);
    }
}

/* Findings as no correct run can give them, by hand. */
static void test_breaches(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    mr_compared_race races[] = {
        {.low = 0, .high = 1, .second = 1, .found_by = 1U << MR_RELATION_SYNCP},
        {.low = 0,
         .high = 2,
         .second = 2,
         .found_by = 1U << MR_FINDER_RF,
         .unknown_by = 1U << MR_FINDER_VALUE},
    };
    mr_comparison comparison = {.trace = trace, .races = races, .race_count = 2};
    mr_u32s events[MR_RELATION_COUNT] = {{0}};
    uint32_t one[] = {1, 2}, two[] = {0, 2};
    char line[512];
    events[MR_RELATION_SHB] = (mr_u32s){.items = one, .count = 2};
    events[MR_RELATION_HB] = (mr_u32s){.items = two, .count = 2};
    assert_true(mr_containment_check(&comparison, events, true));
    assert_int_equal(comparison.breach_count, 0); /* nobody was asked */
    comparison.findings[MR_FINDER_RF].done = comparison.findings[MR_FINDER_VALUE].done = true;
    assert_true(mr_containment_check(&comparison, events, true));
    assert_int_equal(comparison.breach_count, 0); /* unknown to value */
    comparison.findings[MR_RELATION_SYNCP].done = true;
    assert_true(mr_containment_check(&comparison, events, false));
    assert_int_equal(comparison.breach_count, 0); /* rf did not look at everything */
    assert_true(mr_containment_check(&comparison, events, true));
    assert_int_equal(comparison.breach_count, 1);
    mr_breach_line(&comparison, &comparison.breaches[0], line, sizeof line);
    assert_string_equal(line, "syncp reports the static race 'a' - 'b', rf does not");
    comparison.findings[MR_RELATION_SHB] = comparison.findings[MR_RELATION_HB] =
        (mr_finder_figures){.done = true, .counts_events = true};
    assert_true(mr_containment_check(&comparison, events, false));
    assert_int_equal(comparison.breach_count, 2);
    mr_breach_line(&comparison, &comparison.breaches[1], line, sizeof line);
    assert_string_equal(line, "event 1 (line 2) is racy by shb and not by hb");
    free(comparison.breaches);
    mr_trace_free(trace);
}

static char *write_report(const mr_comparison *comparison, mr_format format, bool run)
{
    char *text = NULL;
    size_t size;
    mr_error error;
    mr_comparison_report report;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    mr_comparison_begin(&report, stream, format, comparison->finders, run);
    assert_int_equal(mr_comparison_write(&report, comparison, &error), MR_OK);
    mr_comparison_end(&report);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void expect_report(const mr_comparison *comparison, mr_format format, const char *expected)
{
    char *text = write_report(comparison, format, true);
    assert_string_equal(text, expected);
    free(text);
}

static void test_tables(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    mr_compared_race race = {.low = 1, .high = 2, .second = 2, .found_by = 1U << MR_RELATION_WCP};
    mr_comparison comparison = {.trace = trace,
                                .finders = 1U << MR_RELATION_WCP | 1U << MR_FINDER_RF,
                                .races = &race,
                                .race_count = 1,
                                .read_seconds = 0.5};
    comparison.findings[MR_RELATION_WCP] = (mr_finder_figures){.done = true,
                                                               .static_races = 1,
                                                               .only = 1,
                                                               .counts_events = true,
                                                               .racy_events = 12345,
                                                               .racy_locations = 2,
                                                               .racy_variables = 3,
                                                               .seconds = 1.25};
    comparison.findings[MR_FINDER_RF] =
        (mr_finder_figures){.done = true,
                            .unknown = 4,
                            .beside = {[MR_WITNESS_USE_AFTER_FREE] = 1,
                                       [MR_WITNESS_DEADLOCK] = 2,
                                       [MR_WITNESS_NULL] = 3,
                                       [MR_WITNESS_DANGLING] = 4,
                                       [MR_WITNESS_DOUBLE_FREE] = 5},
                            .beside_unknown = 6,
                            .seconds = 10};
    char *text = write_report(&comparison, MR_FORMAT_TEXT, true);
    assert_non_null(strstr(text, ": 4 events, 3 threads, 0 locks, 2 variables; read in 0.500 s"));
    assert_non_null(strstr(text, "\nracy events               12345        -\n"));
    assert_non_null(strstr(text, "\nunknown static races          -        4\n"
                                 "uses after free               -        1\n"
                                 "deadlocks                     -        2\n"
                                 "null pointers                 -        3\n"
                                 "dangling pointers             -        4\n"
                                 "double frees                  -        5\n"
                                 "unknown beside races          -        6\n"));
    assert_non_null(
        strstr(text, "\nFound by one alone:\n  wcp only: b - c|d on x (lines 1 and 3)\n"));
    free(text);
    expect_report(
        &comparison, MR_FORMAT_CSV,
        "trace,events,relation,racy_events,racy_locations,racy_variables,static_races,"
        "only,unknown,uses_after_free,deadlocks,null_pointers,dangling_pointers,double_frees,"
        "unknown_beside_races,seconds\n"
        "\"sample.std\",4,wcp,12345,2,3,1,1,,,,,,,,1.250\n"
        "\"sample.std\",4,rf,,,,0,0,4,1,2,3,4,5,6,10.000\n");
    for (int format = 0; format < 4; format++) { /* without times, where they are left out */
        text = write_report(&comparison, (mr_format)format, false);
        assert_null(strstr(text, "seconds"));
        assert_null(strstr(text, "0.5"));
        assert_null(strstr(text, "1.25"));
        free(text);
    }
    text = write_report(&comparison, MR_FORMAT_MARKDOWN, true);
    assert_non_null(strstr(text, "| trace | events | | wcp | rf |\n|---|--:|---|--:|--:|\n"
                                 "| sample.std | 4 | racy events | 12345 | - |\n"));
    assert_non_null(strstr(text, "| | | seconds | 1.250 | 10.000 |\n"));
    free(text);
    text = write_report(&comparison, MR_FORMAT_JSON, true);
    json_t *json = json_loads(text, 0, NULL);
    const char *found_by;
    int unknown, line;
    assert_int_equal(json_unpack(json, "{s:[{s:{s:{s:i}}, s:[{s:[s], s:[i,i]}]}]}", "traces",
                                 "findings", "rf", "unknown", &unknown, "static_races", "found_by",
                                 &found_by, "lines", &line, &line),
                     0);
    assert_int_equal(unknown, 4);
    assert_string_equal(found_by, "wcp");
    assert_int_equal(line, 3);
    json_decref(json);
    free(text);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),         cmocka_unit_test(test_sample),
        cmocka_unit_test(test_breaches),      cmocka_unit_test(test_tables),
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
