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
#include "trace/columns.h"

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

/* ---- one variable, many pairs of places ---- */

enum { MOST_FUNCTIONS = 5, LINES = 2, THREADS = 4 };

/* Gives each access the stack of its place: line 10 f + n is in function number f. */
static void add_stacks(mr_trace *trace)
{
    static const char *const names[MOST_FUNCTIONS + 1] = {"main",  "add",  "take",
                                                          "clear", "move", "swap"};
    enum { EACH = MOST_FUNCTIONS + 1 };
    trace->stacks = calloc(EACH * 10 + 1, sizeof *trace->stacks);
    assert_non_null(trace->stacks);
    assert_int_equal(mr_columns_reserve_stacks(trace, trace->event_count, NULL), MR_OK);
    for (uint32_t i = 0; i < EACH * 10; i++) {
        char frame[64];
        uint32_t number;
        int length = sprintf(frame, "%s\tcount.c:%u:1", names[i / 10], i);
        assert_true(mr_names_add(&trace->frames, frame, (uint32_t)length, &number));
        trace->stacks[i + 1] = (mr_stack){0, number};
    }
    trace->stack_count = EACH * 10 + 1;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        const char *place = trace->locations.items[trace->location[e]].text;
        trace->stack[e] = (uint32_t)atoi(strchr(place, ':') + 1) + 1;
    }
}

/* Threads that add to one variable in a loop, in so many functions, each at two lines. */
static mr_trace *adding_trace(int functions)
{
    char text[4096], *end = text;
    for (int t = 1; t <= THREADS; t++)
        end += sprintf(end, "T0|fork(T%d)|count.c:1\n", t);
    for (int round = 0; round < functions; round++)
        for (int t = 1; t <= THREADS; t++)
            for (int line = 0; line < LINES; line++) {
                int place = 10 * (1 + (round + t) % functions) + line;
                end += sprintf(end, "T%d|r(total)|count.c:%d\nT%d|w(total)|count.c:%d\n", t, place,
                               t, place);
            }
    mr_trace *trace = mr_sample_trace(text);
    add_stacks(trace);
    return trace;
}

/* A group of findings for each two functions, with the number of its findings. */
static void test_adding(void **state)
{
    (void)state;
    static const struct {
        mr_format format;
        const char *name;
    } formats[] = {{MR_FORMAT_TEXT, "report-adding"},
                   {MR_FORMAT_SARIF, "report-adding-sarif"},
                   {MR_FORMAT_HTML, "report-adding-html"}};
    predicted self;
    predict(&self, adding_trace(3));
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char *text = print(&self, formats[i].format), *summary = strstr(text, "\nSummary");
        keep_data(text);
        hide_version(text);
        if (formats[i].format == MR_FORMAT_TEXT && summary) /* the run comes behind it */
            *summary = '\0';
        mr_golden(formats[i].name, text);
        free(text);
    }
    discard(&self);
}

/* The fingerprint of that name of the only result of a trace in SARIF. */
static void read_fingerprint(const predicted *self, const char *name, char fingerprint[64])
{
    char *text = print(self, MR_FORMAT_SARIF);
    json_t *report = mr_schema_parse(text);
    const json_t *results = json_object_get(first_of(report, "runs"), "results");
    const json_t *all = json_object_get(json_array_get(results, 0), "partialFingerprints");
    assert_int_equal(json_array_size(results), 1);
    snprintf(fingerprint, 64, "%s", json_string_value(json_object_get(all, name)));
    json_decref(report);
    free(text);
}

/* A group is known again when another finding is its worst one. */
static void test_fingerprint_of_group(void **state)
{
    (void)state;
    static const char before[] = "T0|fork(T1)|count.c:1\nT0|fork(T2)|count.c:1\n"
                                 "T1|r(total)|count.c:10\nT2|w(total)|count.c:20\n";
    char after[sizeof before + 32], worst[2][64], group[2][64];
    snprintf(after, sizeof after, "%sT1|w(total)|count.c:11\n", before);
    for (int k = 0; k < 2; k++) {
        predicted self;
        mr_trace *trace = mr_sample_trace(k ? after : before);
        add_stacks(trace);
        predict(&self, trace);
        assert_int_equal(self.result.race_count, k + 1);
        read_fingerprint(&self, "primaryLocationLineHash", group[k]);
        read_fingerprint(&self, "maxrace/v1", worst[k]);
        discard(&self);
    }
    assert_string_equal(group[0], group[1]);
    assert_string_not_equal(worst[0], worst[1]);
}

/* The findings that the results of a report in SARIF stand for. */
static size_t count_results(const predicted *self, size_t *results, bool *tells_of_more)
{
    char *text = print(self, MR_FORMAT_SARIF);
    json_t *report = mr_schema_parse(text);
    const json_t *list = json_object_get(first_of(report, "runs"), "results"), *result;
    size_t index, findings = 0;
    *results = json_array_size(list);
    json_array_foreach(list, index, result)
    {
        const json_t *count = json_object_get(result, "occurrenceCount");
        findings += count ? (size_t)json_integer_value(count) : 1;
    }
    *tells_of_more = strstr(text, " more such findings on total (--report-shown 0") != NULL;
    json_decref(report);
    free(text);
    return findings;
}

static size_t count_groups(const predicted *self, size_t *behind)
{
    char *text = print(self, MR_FORMAT_HTML);
    keep_data(text);
    json_t *report = mr_schema_parse(text);
    const json_t *list = json_object_get(first_of(report, "reports"), "groups"), *group = NULL;
    size_t index, count = json_array_size(list);
    *behind = 0;
    json_array_foreach(list, index, group) *behind += (size_t)number_of(group, "behind");
    json_decref(report);
    free(text);
    return count;
}

/* Of more than nine groups on a variable eight are shown, unless all are asked for. */
static void test_hidden_groups(void **state)
{
    (void)state;
    enum { SHOWN = 8, GROUPS = MOST_FUNCTIONS * (MOST_FUNCTIONS + 1) / 2 };
    predicted self;
    size_t results, behind;
    bool more;
    predict(&self, adding_trace(MOST_FUNCTIONS));
    size_t shown = count_results(&self, &results, &more);
    assert_int_equal(results, SHOWN);
    assert_true(more && shown > SHOWN && shown < self.result.race_count);
    assert_int_equal(count_groups(&self, &behind), SHOWN);
    assert_int_equal(shown + behind, self.result.race_count);
    assert_int_equal(mr_config_set(self.config, "report.shown", "0", NULL, 0, NULL), MR_OK);
    assert_int_equal(count_results(&self, &results, &more), self.result.race_count);
    assert_true(results == self.result.race_count && !more);
    assert_int_equal(count_groups(&self, &behind), GROUPS);
    assert_int_equal(behind, 0);
    discard(&self);
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
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_sarif),
        cmocka_unit_test(test_fingerprint_of_group),
        cmocka_unit_test(test_sarif_limits),
        cmocka_unit_test(test_perfetto),
        cmocka_unit_test(test_adding),
        cmocka_unit_test(test_hidden_groups),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
