/* Whole reports on shipped examples, as golden files: what a program reads (JSON) and what people read. In JSON the
 * members that are no result are left out: the version, and the settings, which change with every new option. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/golden.h"
#include "support/run.h"
#include "support/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_scratch scratch;

static int setup(void **state)
{
    unsetenv("COLUMNS"); /* the width of lines */
    mr_scratch_setup(state, &scratch);
    return 0;
}

static const struct {
    const char *name; /* tests/golden/NAME.txt, and NAME-json.txt */
    const char *arguments;
    bool text;
} reports[] = {
    {"predict-bank", "predict examples/bank.std", true},
    {"predict-deadlock", "predict examples/deadlock.std", true},
    {"predict-none", "predict examples/bank-locked.std", true},
    {"order-bank", "order --relation wcp examples/bank.std", true},
    {"order-deadlock", "order --relation hybrid --confirm examples/deadlock.std", true},
    {"order-locked", "order examples/bank-locked.std", false},
    {"compare", "compare examples/bank.std examples/value.std examples/deadlock.std", true},
};

/* What the report has of the trace and of what was found, one member a line. */
static char *results_of(const char *text)
{
    json_t *report = mr_schema_parse(text);
    json_object_del(json_object_get(report, "tool"), "version");
    json_object_del(report, "config");
    char *lines = json_dumps(report, JSON_INDENT(1));
    assert_non_null(lines);
    json_decref(report);
    return lines;
}

static char *report_of(const char *arguments, const char *format)
{
    char command[256];
    mr_run run;
    snprintf(command, sizeof command, "%s --no-report-run --format %s", arguments, format);
    mr_run_maxrace(&run, &scratch, command, NULL, MR_RUN_CAPTURE);
    assert_string_equal(run.error, "");
    char *text = strdup(run.out);
    assert_non_null(text);
    mr_run_free(&run);
    return text;
}

static void test_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        if (!reports[i].text)
            continue;
        char *text = report_of(reports[i].arguments, "text");
        mr_golden(reports[i].name, text);
        free(text);
    }
}

static void test_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        char name[64];
        char *text = report_of(reports[i].arguments, "json"), *results = results_of(text);
        snprintf(name, sizeof name, "%s-json", reports[i].name);
        mr_golden(name, results);
        free(results);
        free(text);
    }
}

/* The tables of compare, and of its page the data: the rest is the same in all pages. */
static void test_tables(void **state)
{
    (void)state;
    static const char *const formats[] = {"csv", "markdown", "html"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char name[64];
        char *text = report_of("compare examples/bank.std examples/value.std examples/deadlock.std",
                               formats[i]);
        char *from = text, *data = strstr(text, "id=\"data\">\n");
        if (data) {
            from = strchr(data, '\n') + 1;
            char *end = strstr(from, "</script>");
            assert_non_null(end);
            *end = '\0';
        }
        assert_int_equal(data != NULL, strcmp(formats[i], "html") == 0);
        snprintf(name, sizeof name, "compare-%s", formats[i]);
        mr_golden(name, from);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
