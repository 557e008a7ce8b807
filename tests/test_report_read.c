/* `maxrace report`: a report in JSON written again is the one that `predict` writes, in every format; what is
 * no report, and a report of another trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "formats/read.h"
#include "report/report_read.h"
#include "support/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_scratch scratch;

/* What the command prints. */
static char *printed(const char *arguments, int status)
{
    mr_run run;
    mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    if (run.status != status)
        fail_msg("%s: %s", arguments, run.error);
    char *out = run.out;
    run.out = NULL;
    mr_run_free(&run);
    return out;
}

static void test_same(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int status;
    } examples[] = {{"bank", 1}, {"deadlock", 1}, {"account", 1}, {"bank-locked", 0}};
    static const char *const formats[] = {"text", "json",     "sarif", "junit",
                                          "html", "perfetto", "dot"};
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        char line[512];
        snprintf(line, sizeof line,
                 "predict -q --no-report-run --format json -o @/r.json examples/%s.std",
                 examples[i].name);
        free(printed(line, examples[i].status));
        for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
            snprintf(line, sizeof line, "predict -q --no-report-run --format %s examples/%s.std",
                     formats[f], examples[i].name);
            char *wanted = printed(line, examples[i].status);
            snprintf(line, sizeof line, "report -q --format %s @/r.json", formats[f]);
            char *found = printed(line, examples[i].status);
            if (strcmp(wanted, found) != 0)
                fail_msg("%s as %s: %s", examples[i].name, formats[f], found);
            free(wanted);
            free(found);
        }
    }
}

/* A report of unknowns, in a model and windows of its own, incomplete and suppressed. */
static void test_settings(void **state)
{
    (void)state;
    char path[512];
    static const char unknown[] = "T0|w(f=0)|c.c:1\nT0|fork(T1)|c.c:2\nT0|fork(T2)|c.c:2\n"
                                  "T1|w(x=1)|c.c:3\nT1|w(f=1)|c.c:4\n"
                                  "T2|r(f=1)|c.c:5\nT2|w(x=2)|c.c:6\n";
    mr_scratch_write(&scratch, "unknown.std", unknown, path);
    static const char flags[] = "-q --no-report-run --solver-steps cone --candidates-far none "
                                "--window-size 5 --window-overlap 2 --model rf";
    char line[1024];
    snprintf(line, sizeof line, "predict %s --format json -o @/u.json @/unknown.std", flags);
    free(printed(line, 0));
    snprintf(line, sizeof line, "predict %s @/unknown.std", flags);
    char *wanted = printed(line, 0), *found = printed("report @/u.json", 0);
    assert_string_equal(wanted, found);
    free(wanted);
    free(found);
}

static void test_rows(void **state)
{
    (void)state;
    char path[512];
    free(printed("predict -q --format json -o @/bank.json examples/bank.std", 1));
    mr_scratch_write(&scratch, "none.json", "{\"races\":[]}", path);
    mr_scratch_write(&scratch, "bad.json", "{\n", path);
    mr_scratch_write(&scratch, "runs.json", "{\"runs\":[],\"races\":0}", path);
    mr_scratch_write(&scratch, "all.supp", "race:bank.balance\n", path);
    static const mr_run_row rows[] = {
        {"report @/missing.json", 4, NULL,
         "@/missing.json: cannot open: No such file or directory\n"},
        {"report @/none.json", 2, NULL,
         "@/none.json: no report of 'predict', 'merge' or 'run' in JSON\n"},
        {"report @/bad.json", 2, NULL,
         "@/bad.json:2: cannot read the report: string or '}' expected near end of file\n"},
        {"report @/runs.json", 2, NULL,
         "@/runs.json: a report of several runs: give 'run' the format at once\n"},
        {"report --trace examples/account.std @/bank.json", 3, NULL,
         "@/bank.json: the report is not one of the trace examples/account.std\n"},
        {"report --trace examples/none.std @/bank.json", 4, NULL,
         "examples/none.std: cannot open: No such file or directory\n"},
        {"report --format csv @/bank.json", 2, NULL,
         "maxrace: format: 'report' reports as text, json, sarif, junit, perfetto, dot or html; "
         "csv is for 'compare'\n"},
        {"report -o @/bank.html @/bank.json", 1, NULL, NULL},
        {"report --brief @/bank.json", 1,
         "bank.c:21: race on bank.balance between teller and auditor; and bank.c:34\n", NULL},
        {"report --suppressions @/all.supp @/bank.json", 0, ", 1 suppressed\n", NULL},
        {"report --fail-on none @/bank.json", 0, "\n1 race (1 by wcp)\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
    char *page = printed("report --format html @/bank.json", 1);
    char written[1024];
    mr_run_expand(&scratch, "@/bank.html", written);
    FILE *stream = fopen(written, "r");
    assert_non_null(stream);
    char *read = calloc(1, strlen(page) + 2);
    assert_int_equal(fread(read, 1, strlen(page) + 1, stream), strlen(page));
    assert_string_equal(read, page);
    fclose(stream);
    free(read);
    free(page);
}

/* Any number may be wrong: then the report is not one of the trace, and nothing is printed. */
static void test_damaged(void **state)
{
    (void)state;
    mr_config *config = mr_config_new();
    const mr_read_options options = {0};
    mr_trace *trace = NULL;
    mr_error error;
    free(printed("predict -q --format json -o @/bank.json examples/deadlock.std", 1));
    char path[1024], changed[1024];
    mr_run_expand(&scratch, "@/bank.json", path);
    assert_int_equal(mr_trace_read("examples/deadlock.std", &options, &trace, &error), MR_OK);
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"\"event\":1,", "\"event\":11,"},          {"\"event\":1,", "\"event\":-1,"},
        {"\"event\":1,", "\"event\":\"1\","},       {"\"event\":1,", "\"event\":3,"},
        {"\"window\":[0,10]", "\"window\":[0,11]"}, {"\"window\":[0,10]", "\"window\":[9,1]"},
        {"\"witness\":[0,5]", "\"witness\":[5,5]"}, {"\"witness\":[0,5]", "\"runs\":[[0,9]]"},
        {"\"witness\":[0,5]", "\"witness\":[]"},
    };
    FILE *stream = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    assert_true(fread(text, 1, (1 << 16) - 1, stream) > 0);
    fclose(stream);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *at = strstr(text, rows[i].from);
        assert_non_null(at);
        char *other = calloc(1, (1 << 16) + 64);
        snprintf(other, (1 << 16) + 64, "%.*s%s%s", (int)(at - text), text, rows[i].to,
                 at + strlen(rows[i].from));
        mr_scratch_write(&scratch, "changed.json", other, changed);
        mr_report *report = NULL;
        mr_result result;
        assert_int_equal(mr_report_open(changed, config, &report, &error), MR_OK);
        if (mr_report_result(report, trace, config, &result, &error) != MR_ERR_TRACE)
            fail_msg("%s to %s is accepted", rows[i].from, rows[i].to);
        mr_result_free(&result);
        mr_report_close(report);
        free(other);
    }
    mr_status status = MR_ERR_MEMORY;
    for (uint64_t n = 1; status != MR_OK; n++) {
        mr_report *report = NULL;
        mr_result result = {0};
        mr_memory_fail_after(n);
        status = mr_report_open(path, config, &report, &error);
        if (status == MR_OK)
            status = mr_report_result(report, trace, config, &result, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
        mr_result_free(&result);
        mr_report_close(report);
    }
    free(text);
    mr_trace_free(trace);
    mr_config_free(config);
}

static int setup(void **state)
{
    mr_scratch_setup(state, &scratch);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
