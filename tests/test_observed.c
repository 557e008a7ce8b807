/* Errors that happened in the recorded execution: found in the trace, and reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/sample.h"
#include "support/schema.h"

#include "engine/predict.h"
#include "report/predict_report.h"
#include "trace/observed.h"

#include <stdlib.h>
#include <string.h>

static const char freed[] = "#@in x o\n#@in y o\n#@object o table\n"
                            "T0|alloc(o=0x100+16)|a.c:1\nT0|w(x=1)|a.c:2\nT0|fork(T1)|a.c:3\n"
                            "T0|free(o)|a.c:4\nT1|r(x=1)|b.c:1\nT1|r(y)|b.c:1\nT1|w(z=1)|b.c:2\n";
enum { ALLOC = 0, FREE = 3, USE = 4 };

static const char misused[] = "#@end misuse unlock-by-other 2 1\n#@end misuse unlock-by-other 99\n"
                              "#@end misuse strange 1\n#@end misuse unlock-free\n"
                              "T0|ar(m=0)|a.c:1\nT0|acq(m)|a.c:1\nT1|ar(m=0)|b.c:1\n";

static void test_freed(void **state)
{
    (void)state;
    mr_observed_list list;
    mr_trace *trace = mr_sample_trace(freed);
    assert_true(mr_observed_find(&list, trace));
    assert_int_equal(list.count, 1); /* both uses are in one place */
    assert_int_equal(list.items->kind, MR_MISUSE_USE_AFTER_FREE);
    assert_int_equal(list.items->event, USE);
    assert_int_equal(list.items->other, FREE);
    assert_int_equal(list.items->count, 2);
    assert_int_equal(mr_observed_object(trace, USE), 0);
    assert_int_equal(mr_observed_object(trace, ALLOC), 0);
    assert_true(mr_observed_object(trace, 6) == MR_NONE);
    mr_observed_free(&list);
    mr_trace_free(trace);
}

/* Unknown kinds, lines that are not whole and events that the trace has not are passed over. */
static void test_misused(void **state)
{
    (void)state;
    mr_observed_list list;
    mr_trace *trace = mr_sample_trace(misused);
    assert_true(mr_observed_find(&list, trace));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items->kind, MR_MISUSE_UNLOCK_BY_OTHER);
    assert_int_equal(list.items->event, 2);
    assert_int_equal(list.items->other, 1);
    mr_observed_free(&list);
    mr_trace_free(trace);
}

static void test_nothing(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace("#@in x o\nT0|alloc(o)|1\nT0|w(x=1)|2\nT0|free(o)|3\n");
    assert_false(mr_observed_any(trace));
    mr_trace_free(trace);
}

static char *report_of(const char *text, bool as_json)
{
    char *report = NULL;
    size_t bytes = 0;
    mr_error error;
    mr_result result = {0};
    mr_trace *trace = mr_sample_trace(text);
    mr_config *config = mr_config_new();
    FILE *stream = open_memstream(&report, &bytes);
    assert_non_null(config);
    assert_non_null(stream);
    assert_int_equal(mr_config_set(config, "report.run", "false", NULL, 0, &error), MR_OK);
    mr_config_resolve(config);
    const mr_predict_run run = {0};
    assert_int_equal(mr_predict(trace, config, &run, &result, &error), MR_OK);
    assert_int_equal(as_json ? mr_predict_report_json(stream, trace, config, &result, &error)
                             : mr_predict_report_text(stream, trace, config, &result, &error),
                     MR_OK);
    fclose(stream);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
    return report;
}

static void expect_in(const char *report, const char *part)
{
    if (!strstr(report, part))
        fail_msg("'%s' is not in:\n%s", part, report);
}

static void test_text(void **state)
{
    (void)state;
    char *report = report_of(freed, false);
    expect_in(report, "Observed 1 of 1: T1 uses memory that was freed: x, 2 times\n"
                      "  use     read  at b.c:1 by T1, event 4, line 8\n"
                      "  block   table (o), 16 bytes at 0x100\n"
                      "          allocated at a.c:1 by T0, event 0\n"
                      "          freed at a.c:4 by T0, event 3\n");
    expect_in(report, "\n1 error observed, 1 race (");
    free(report);
    report = report_of(misused, false);
    expect_in(report, "Observed 1 of 1: T1 releases a lock that another thread holds: m\n");
    expect_in(report, "  before  taken at a.c:1 by T0, event 1\n");
    free(report);
}

static void test_json(void **state)
{
    (void)state;
    static const char *const texts[] = {freed, misused};
    json_t *schema = mr_schema_load("docs/report.schema.json");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char problem[256] = "", *text = report_of(texts[i], true);
        json_t *report = mr_schema_parse(text);
        if (!mr_schema_fits(schema, schema, report, problem))
            fail_msg("%s: %s", problem, text);
        const json_t *found = json_array_get(json_object_get(report, "observed"), 0);
        assert_non_null(json_object_get(found, "other"));
        assert_int_equal(json_object_get(found, "block") != NULL, i == 0);
        json_decref(report);
        free(text);
    }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_freed),   cmocka_unit_test(test_misused),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
