/* A report of many findings is the same from any number of threads, and what reads see is the same found by replaying and
 * by the lists of writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "listing/listing.h"
#include "report/formats.h"
#include "report/sees.h"
#include "support/predicted.h"
#include "support/random.h"
#include "support/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Accesses of few variables by four threads, without locks. */
static mr_trace *racy_trace(uint64_t seed, unsigned events)
{
    enum { LINE_BYTES = 40 };
    mr_random random = {.state = seed};
    char *text = malloc((size_t)events * LINE_BYTES + 1), *to = text;
    assert_non_null(text);
    for (unsigned i = 0; i < events; i++) {
        unsigned thread = mr_random_below(&random, 4), variable = mr_random_below(&random, 6);
        const char *op = mr_random_below(&random, 3) ? "r" : "w";
        to += snprintf(to, LINE_BYTES, "T%u|%s(x%u)|p%u\n", thread, op, variable,
                       mr_random_below(&random, 300));
    }
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    free(text);
    return trace;
}

static char *report_of(const mr_trace *trace, const mr_config *config, const mr_result *result)
{
    char *text = NULL;
    size_t size = 0;
    mr_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(mr_format_chosen(config)->predict(stream, trace, config, result, &error),
                     MR_OK);
    fclose(stream);
    return text;
}

static mr_config *settings_of_many(void)
{
    static const char *const settings[] = {"window.size",
                                           "60",
                                           "candidates.report",
                                           "event",
                                           "candidates.far",
                                           "none",
                                           "find",
                                           "races",
                                           "jobs",
                                           "1",
                                           "report.run",
                                           "false",
                                           "report.shown",
                                           "0",
                                           NULL};
    return mr_settings_of(settings);
}

/* How many groups a page has. */
static size_t groups_in(const char *page, const char *key)
{
    size_t count = 0;
    for (; (page = strstr(page, key)); page++)
        count++;
    return count;
}

static size_t shown_groups(const mr_listing *list)
{
    size_t count = 0;
    for (size_t g = 0; g < list->group_count; g++)
        count += !mr_listed_group_is_hidden(&list->groups[g]);
    return count;
}

static bool is_before(const mr_listed *one, const mr_listed *two)
{
    if (one->badness != two->badness)
        return one->badness < two->badness;
    return one->kind != two->kind ? one->kind < two->kind : one->index < two->index;
}

/* Groups are in the order of their first findings, and findings in that of badness. Each finding is there once. */
static void test_order(void **state)
{
    (void)state;
    mr_trace *trace = racy_trace(3, 900);
    mr_config *config = settings_of_many();
    mr_result result = mr_predicted(trace, config);
    mr_listing list;
    mr_error error;
    size_t mixed = 0, at = 0;
    assert_int_equal(mr_listing_make(&list, trace, config, &result, &error), MR_OK);
    assert_int_equal(list.count, result.race_count);
    for (size_t g = 0; g < list.group_count; g++) {
        const mr_listed *items = &list.items[list.groups[g].first];
        assert_int_equal(list.groups[g].first, at);
        assert_true(g == 0 || is_before(&list.items[list.groups[g - 1].first], items));
        for (size_t i = 1; i < list.groups[g].count; i++) {
            assert_true(is_before(&items[i - 1], &items[i]));
            mixed +=
                items[i - 1].badness != items[i].badness && items[i - 1].index > items[i].index;
        }
        at += list.groups[g].count;
    }
    assert_int_equal(at, list.count);
    for (size_t i = 0; i < result.race_count; i++)
        assert_true(list.of_race[i] && list.of_race[i]->index == i);
    assert_true(mixed > 0); /* the order of the index alone is another one */
    mr_listing_free(&list);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
}

static void test_same_bytes(void **state)
{
    (void)state;
    /* In HTML the first groups have a picture, and the calling thread makes them; without `report.shown` some are hidden. */
    static const struct {
        const char *format, *pictures, *shown;
    } rows[] = {{"text", "20", "0"}, {"json", "20", "0"},   {"sarif", "20", "0"},
                {"html", "20", "0"}, {"html", "1", "0"},    {"html", "0", "0"},
                {"html", "0", "20"}, {"html", "5000", "20"}};
    mr_trace *trace = racy_trace(3, 900);
    mr_config *config = settings_of_many();
    mr_result result = mr_predicted(trace, config);
    mr_listing list;
    mr_error error;
    assert_true(result.race_count > 1000);
    assert_int_equal(mr_listing_make(&list, trace, config, &result, &error), MR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_settings_set(config, "format", rows[i].format);
        mr_settings_set(config, "report.pictures", rows[i].pictures);
        mr_settings_set(config, "report.shown", rows[i].shown);
        mr_settings_set(config, "jobs", "1");
        char *expected = report_of(trace, config, &result);
        bool all = rows[i].shown[1] == '\0';
        if (strcmp(rows[i].format, "html") == 0) {
            assert_int_equal(groups_in(expected, "\"alike\":["),
                             all ? list.group_count : shown_groups(&list));
            assert_true(strstr(expected, "\"groups\":[\n{") &&
                        strstr(expected, "}],\n\"unknown\":"));
        }
        for (char jobs[] = "2"; jobs[0] < '6'; jobs[0]++) {
            mr_settings_set(config, "jobs", jobs);
            char *report = report_of(trace, config, &result);
            assert_string_equal(report, expected);
            free(report);
        }
        free(expected);
    }
    assert_true(shown_groups(&list) < list.group_count);
    mr_listing_free(&list);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
}

/* Some windows, some events of them in their order. */
static void test_sees(void **state)
{
    (void)state;
    enum { EVENTS = 400, WINDOWS = 300 };
    mr_random random = {.state = 9};
    mr_trace *trace = racy_trace(4, EVENTS);
    mr_writes writes;
    mr_sees replayed, found;
    assert_true(mr_writes_build(&writes, trace));
    assert_true(mr_sees_init(&replayed, trace) && mr_sees_init(&found, trace));
    found.writes = &writes;
    for (unsigned window = 0; window < WINDOWS; window++) {
        uint32_t start = mr_random_below(&random, EVENTS + 1);
        mr_sees_start(&replayed, start);
        mr_sees_start(&found, start);
        for (uint32_t event = start; event < EVENTS; event += 1 + mr_random_below(&random, 9)) {
            uint32_t one, two;
            assert_true(mr_sees_step(&replayed, event, &one));
            assert_true(mr_sees_step(&found, event, &two));
            assert_int_equal(one, two);
        }
        for (uint32_t variable = 0; variable < trace->variables.count; variable++)
            assert_int_equal(mr_sees_last(&replayed, variable), mr_sees_last(&found, variable));
    }
    mr_sees_free(&replayed);
    mr_sees_free(&found);
    mr_writes_free(&writes);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
