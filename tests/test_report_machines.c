/* Formats for other programs: golden files on shipped examples, SARIF against a schema and its limits,
 * trace events that fit together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "engine/predict.h"
#include "formats/read.h"
#include "report/formats.h"
#include "support/golden.h"
#include "support/sample.h"
#include "support/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct predicted {
    mr_trace *trace;
    mr_config *config;
    mr_result result;
} predicted;

static void predict(predicted *self, mr_trace *trace)
{
    mr_error error;
    *self = (predicted){.trace = trace, .config = mr_config_new()};
    assert_non_null(self->trace);
    mr_config_resolve(self->config);
    assert_int_equal(mr_predict(self->trace, self->config, NULL, &self->result, &error), MR_OK);
}

static void predict_file(predicted *self, const char *path)
{
    const mr_read_options options = {0};
    mr_trace *trace = NULL;
    mr_error error;
    assert_int_equal(mr_trace_read(path, &options, &trace, &error), MR_OK);
    predict(self, trace);
}

static void discard(predicted *self)
{
    mr_result_free(&self->result);
    mr_config_free(self->config);
    mr_trace_free(self->trace);
}

static char *print(const predicted *self, mr_format format)
{
    char *text = NULL;
    size_t length;
    mr_error error = {0};
    FILE *stream = open_memstream(&text, &length);
    mr_status status =
        mr_formats[format].predict(stream, self->trace, self->config, &self->result, &error);
    fclose(stream);
    if (status != MR_OK)
        fail_msg("%s", error.text);
    return text;
}

static const struct {
    mr_format format;
    const char *word;
} machines[] = {
    {MR_FORMAT_SARIF, "sarif"}, {MR_FORMAT_JUNIT, "junit"}, {MR_FORMAT_PERFETTO, "perfetto"},
    {MR_FORMAT_DOT, "dot"},     {MR_FORMAT_HTML, "html"},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

/* The version of maxrace is not part of the golden files. */
static void hide_version(char *text)
{
    char *at = strstr(text, "\"version\":\"" MR_VERSION "\"");
    if (at)
        memset(at + strlen("\"version\":\""), 'N', strlen(MR_VERSION));
}

/* Of a page the data alone: the rest is that of src/report/html. */
static void keep_data(char *text)
{
    static const char begin[] = "id=\"data\">\n";
    char *at = strstr(text, begin), *end = at ? strstr(at, "</script>") : NULL;
    if (!at || !end)
        return;
    *end = '\0';
    memmove(text, at + strlen(begin), strlen(at + strlen(begin)) + 1);
}

static void test_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINES; i++) {
        predicted self;
        char name[64];
        predict_file(&self, "examples/bank.std");
        char *text = print(&self, machines[i].format);
        keep_data(text);
        hide_version(text);
        snprintf(name, sizeof name, "report-bank-%s", machines[i].word);
        mr_golden(name, text);
        free(text);
        discard(&self);
    }
}

static const char *const examples[] = {"account", "bank",      "bank-locked", "barrier",
                                       "value",   "fork-join", "deadlock"};

static void test_sarif(void **state)
{
    (void)state;
    json_t *schema = mr_schema_load("tests/sarif.schema.json");
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        predicted self;
        char path[64], problem[256];
        snprintf(path, sizeof path, "examples/%s.std", examples[i]);
        predict_file(&self, path);
        char *text = print(&self, MR_FORMAT_SARIF);
        json_t *report = mr_schema_parse(text);
        if (!mr_schema_fits(schema, schema, report, problem))
            fail_msg("%s: %s", path, problem);
        json_decref(report);
        free(text);
        discard(&self);
    }
    json_decref(schema);
}

/* A long trace of one thread, then a race that needs all of it. */
static mr_trace *long_trace(int length)
{
    char *text = malloc(64 + 32 * (size_t)length), *end = text;
    assert_non_null(text);
    end += sprintf(end, "A|fork(B)|m.c:1\n");
    for (int i = 0; i < length; i++)
        end += sprintf(end, "A|w(z=%d)|a.c:%d\n", i, i + 1);
    sprintf(end, "A|w(x=1)|a b.c:9:2\nB|w(x=2)|/src/b.c:7\n");
    mr_trace *trace = mr_sample_trace(text);
    free(text);
    return trace;
}

static const json_t *first_of(const json_t *object, const char *key)
{
    return json_array_get(json_object_get(object, key), 0);
}

/* Readers take at most 1,000 locations; paths are URIs. */
static void test_sarif_limits(void **state)
{
    (void)state;
    predicted self;
    size_t locations = 0, index;
    const json_t *flow;
    predict(&self, long_trace(3000));
    assert_int_equal(self.result.race_count, 1);
    char *text = print(&self, MR_FORMAT_SARIF);
    assert_non_null(strstr(text, "\"uri\":\"a%20b.c\""));
    assert_non_null(strstr(text, "\"uri\":\"file:///src/b.c\""));
    json_t *report = mr_schema_parse(text);
    const json_t *result = first_of(first_of(report, "runs"), "results");
    json_array_foreach(json_object_get(first_of(result, "codeFlows"), "threadFlows"), index, flow)
        locations += json_array_size(json_object_get(flow, "locations"));
    assert_true(locations == 1000);
    json_decref(report);
    free(text);
    discard(&self);
}

static int64_t number_of(const json_t *event, const char *key)
{
    return json_integer_value(json_object_get(event, key));
}

/* Slices of a track do not overlap; each arrow and each section has both ends, in the right order. */
static void test_perfetto(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        predicted self;
        char path[64];
        size_t index, balance = 0, slices = 0;
        const json_t *event;
        int64_t last = -1, process = 0;
        snprintf(path, sizeof path, "examples/%s.std", examples[i]);
        predict_file(&self, path);
        char *text = print(&self, MR_FORMAT_PERFETTO);
        json_t *report = mr_schema_parse(text);
        json_array_foreach(json_object_get(report, "traceEvents"), index, event)
        {
            char phase = json_string_value(json_object_get(event, "ph"))[0];
            balance += phase == 's' || phase == 'b';
            assert_true((phase != 'f' && phase != 'e') || balance-- > 0);
            if (phase != 'X')
                continue;
            if (number_of(event, "pid") != process)
                last = -1;
            process = number_of(event, "pid");
            assert_true(number_of(event, "ts") > last);
            last = number_of(event, "ts") + number_of(event, "dur");
            slices++;
        }
        assert_int_equal(balance, 0);
        assert_true((slices > 0) == (self.result.race_count > 0));
        json_decref(report);
        free(text);
        discard(&self);
    }
}

static void test_failures(void **state)
{
    (void)state;
    predicted self;
    predict_file(&self, "examples/account.std");
    FILE *null = fopen("/dev/null", "w"), *full = fopen("/dev/full", "w");
    for (size_t i = 0; i < MACHINES; i++) {
        mr_predict_writer *write = mr_formats[machines[i].format].predict;
        mr_status status = MR_ERR_MEMORY;
        mr_error error;
        for (uint64_t n = 1; status != MR_OK; n++) {
            mr_memory_fail_after(n);
            status = write(null, self.trace, self.config, &self.result, &error);
            mr_memory_fail_after(0);
            assert_true(status == MR_OK || status == MR_ERR_MEMORY);
        }
        status = MR_ERR_MEMORY;
        for (uint64_t n = 0; status != MR_OK; n++) {
            mr_json_fail_after(n);
            status = write(null, self.trace, self.config, &self.result, &error);
            assert_true(status == MR_OK || status == MR_ERR_MEMORY);
        }
        mr_json_fail_never();
        assert_int_equal(write(full, self.trace, self.config, &self.result, &error), MR_ERR_IO);
        clearerr(full);
    }
    fclose(null);
    fclose(full);
    discard(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),       cmocka_unit_test(test_sarif),
        cmocka_unit_test(test_sarif_limits), cmocka_unit_test(test_perfetto),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
