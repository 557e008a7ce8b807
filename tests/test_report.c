/* Reports of hand-made results: golden text, JSON against its schema, names of any bytes, failures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "report/formats.h"
#include "report/html_report.h"
#include "report/line.h"
#include "report/schedule_table.h"
#include "support/golden.h"
#include "support/sample.h"
#include "support/schema.h"
#include "support/scratch.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A result and all that it needs. Nothing here is owned by the result itself. */
typedef struct sample {
    mr_trace *trace;
    mr_config *config;
    mr_result result;
    mr_race races[4];
    mr_unknown unknowns[30];
} sample;

static void sample_make(sample *self, const char *text)
{
    memset(self, 0, sizeof *self);
    self->trace = mr_sample_trace(text);
    self->config = mr_config_new();
    assert_non_null(self->trace);
    /* The golden files do not depend on the defaults. */
    assert_int_equal(mr_config_set(self->config, "window.size", "10000", NULL, 0, NULL), MR_OK);
    assert_int_equal(mr_config_set(self->config, "window.overlap", "5000", NULL, 0, NULL), MR_OK);
    self->result.races = self->races;
    self->result.unknowns = self->unknowns;
}

static void sample_free(sample *self)
{
    mr_config_free(self->config);
    mr_trace_free(self->trace);
}

static void add_race(sample *self, mr_witness witness, mr_strength strength, mr_step step)
{
    witness.model = MR_MODEL_VALUE;
    if (witness.window_end == 0)
        witness.window_end = self->trace->event_count;
    self->races[self->result.race_count++] =
        (mr_race){.witness = witness, .strength = strength, .confirmed_by = step};
}

static void add_unknown(sample *self, uint32_t first, uint32_t second, mr_unknown_reason reason,
                        const char *detail)
{
    mr_unknown *unknown = &self->unknowns[self->result.unknown_count++];
    *unknown = (mr_unknown){.first = first,
                            .second = second,
                            .window_end = self->trace->event_count,
                            .strength = MR_STRENGTH_WCP,
                            .reason = reason};
    snprintf(unknown->detail, sizeof unknown->detail, "%s", detail);
}

static const char bank_text[] =
    "#@loc 11 src/bank.c:11\n#@loc 27 src/bank.c:27\n#@var V1 bank.balance\n#@thread T2 teller\n"
    "#@lock L accounts_mu\n"
    "T1|w(V1=5)|5\nT1|fork(T2)|9\nT1|acq(L)|10\nT1|w(V1=6)|11\nT1|rel(L)|12\n"
    "T2|begin()|20\nT2|acq(L)|21\nT2|r(y=7)|22\nT2|rel(L)|23\nT2|r(V1=6)|26\nT2|w(V1=7)|27\n";

static void make_bank(sample *self)
{
    static uint32_t first[] = {5, 6, 7, 8}, second[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    sample_make(self, bank_text);
    add_race(
        self,
        (mr_witness){.first = 3, .second = 9, .window_start = 2, .events = first, .event_count = 4},
        MR_STRENGTH_HB, MR_STEP_LINEARISE);
    add_race(self, (mr_witness){.first = 0, .second = 10, .events = second, .event_count = 9},
             MR_STRENGTH_BEYOND_WCP, MR_STEP_Z3);
    add_race(self, (mr_witness){.first = 3, .second = 10, .window_start = 3}, MR_STRENGTH_WCP,
             MR_STEP_FAR);
    add_unknown(self, 3, 10, MR_UNKNOWN_TIME, "canceled");
    add_unknown(self, 0, 9, MR_UNKNOWN_MEMORY, "");
    self->result.stats = (mr_stats){
        .windows = 3,
        .candidates = 12,
        .settled = {[MR_STEP_FILTER] = 5,
                    [MR_STEP_CONE] = 1,
                    [MR_STEP_LINEARISE] = 2,
                    [MR_STEP_SATURATE] = 1,
                    [MR_STEP_Z3] = 2,
                    [MR_STEP_FAR] = 1},
        .races = {[MR_STEP_LINEARISE] = 1, [MR_STEP_Z3] = 1, [MR_STEP_FAR] = 1},
        .unknown = {[MR_UNKNOWN_TIME] = 1, [MR_UNKNOWN_MEMORY] = 1},
        .static_races = 3,
    };
    self->result.run = (mr_run_figures){
        .step_seconds = {[MR_STEP_CONE] = 0.003, [MR_STEP_ELIMINATE] = 0.25, [MR_STEP_Z3] = 0.75},
        .read_seconds = 0.25,
        .decide_seconds = 1.5,
        .solver_seconds = 1,
        .total_seconds = 2,
        .peak_memory_bytes = 3 << 20,
        .queries_stopped_by_time = 1,
        .queries_stopped_by_memory = 2,
    };
}

static void make_empty(sample *self)
{
    sample_make(self, "T1|w(x)|1\n");
    assert_int_equal(mr_config_set(self->config, "window.size", "0", NULL, 0, NULL), MR_OK);
}

/* Five threads, names that are long or not text, and a location that must be cut. */
static void make_threads(sample *self)
{
    static uint32_t events[] = {0, 1, 2, 3, 4, 5, 6};
    sample_make(self,
                "#@loc 9 a/very/long/path/to/the/file/in/which/this/happens/Database.java:1234\n"
                "#@thread B a thread with a name that is too long for its column\n"
                "A|w(u)|\nA|acq(l)|2\nA|rel(l)|3\nB|r(u)|9\nC\xff|w(v\\x41)|5\nD|r(u)|6\n"
                "E|r(v\\x41)|7\nA|w(z\xc3\xa9)|8\nB|r(z\xc3\xa9)|\x1b[31mred\n");
    add_race(self, (mr_witness){.first = 7, .second = 8, .events = events, .event_count = 7},
             MR_STRENGTH_HB, MR_STEP_SATURATE);
    for (uint32_t i = 0; i < 25; i++)
        add_unknown(self, 7, 8, i < 24 ? MR_UNKNOWN_TIME : MR_UNKNOWN_BUDGET, "");
    self->result.stats.rejected_witnesses = 1;
}

/* 400 events of one thread, then many switches. */
static void make_long(sample *self)
{
    static uint32_t events[900];
    char *text = malloc(40000);
    size_t used = 0;
    assert_non_null(text);
    for (int i = 0; i < 400; i++)
        used += (size_t)sprintf(text + used, "A|%s|%d\n", i == 200 ? "w(x=1)" : "w(q=3)", i);
    for (int i = 0; i < 250; i++)
        used += (size_t)sprintf(text + used, "A|r(q=3)|1\nB|w(b)|2\n");
    sprintf(text + used, "A|w(x=2)|3\nB|r(x=2)|4\n");
    sample_make(self, text);
    for (uint32_t i = 0; i < 900; i++)
        events[i] = i;
    add_race(self, (mr_witness){.first = 900, .second = 901, .events = events, .event_count = 900},
             MR_STRENGTH_HB, MR_STEP_LINEARISE);
    free(text);
}

/* Values of each kind of type, in the schedule and in the accesses. */
static void make_types(sample *self)
{
    static uint32_t events[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    sample_make(self, "#@type state enum32 IDLE=0 BUSY=1\n#@type ratio double\n#@type size float\n"
                      "#@type debt int32\n#@type mask uint32\n#@type letter char\n"
                      "#@type node pointer\n#@type open bool\n#@type odd struct point\n"
                      "A|w(state=1)|1\nA|w(ratio=-4620693217682128896)|2\nA|w(size=1036831949)|3\n"
                      "A|w(debt=-5)|4\nB|r(debt=-5)|5\nB|au(mask=0>-1)|6\nA|w(letter=122)|7\n"
                      "A|w(node=94489280512)|8\nB|w(odd=7)|9\n"
                      "A|w(open=0)|10\nB|r(open=0)|11\nB|r(state=1)|12\n");
    add_race(self, (mr_witness){.first = 9, .second = 10, .events = events, .event_count = 9},
             MR_STRENGTH_HB, MR_STEP_LINEARISE);
    add_race(self, (mr_witness){.first = 0, .second = 11}, MR_STRENGTH_HB, MR_STEP_LINEARISE);
    add_race(self, (mr_witness){.first = 3, .second = 4}, MR_STRENGTH_HB, MR_STEP_LINEARISE);
}

typedef struct golden {
    const char *name; /* tests/golden/NAME.txt */
    void (*make)(sample *self);
} golden;

static const golden goldens[] = {
    {"report-bank", make_bank}, {"report-empty", make_empty}, {"report-threads", make_threads},
    {"report-long", make_long}, {"report-types", make_types},
};
static const size_t golden_count = sizeof goldens / sizeof goldens[0];

static char *report_text(const sample *self)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    mr_error error;
    assert_int_equal(
        mr_predict_report_text(stream, self->trace, self->config, &self->result, &error), MR_OK);
    fclose(stream);
    return text;
}

static void test_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < golden_count; i++) {
        sample self;
        goldens[i].make(&self);
        char *text = report_text(&self);
        mr_golden(goldens[i].name, text);
        free(text);
        sample_free(&self);
    }
}

/* The report as JSON, owned by the caller. */
static char *report_json_text(const sample *self)
{
    char *text = NULL;
    size_t length;
    mr_error error = {0};
    FILE *stream = open_memstream(&text, &length);
    mr_status status =
        mr_predict_report_json(stream, self->trace, self->config, &self->result, &error);
    fclose(stream);
    if (status != MR_OK)
        fail_msg("%s", error.text);
    return text;
}

/* Times, memory and settings that change no result as another run may have them. */
static void run_otherwise(sample *self)
{
    for (int step = 0; step < MR_STEP_COUNT; step++)
        self->result.run.step_seconds[step] += 1;
    self->result.run.read_seconds += 2;
    self->result.run.order_seconds += 2;
    self->result.run.window_seconds += 2;
    self->result.run.decide_seconds += 2;
    self->result.run.solver_seconds += 2;
    self->result.run.far_seconds += 2;
    self->result.run.witness_seconds += 2;
    self->result.run.total_seconds += 2;
    self->result.run.peak_memory_bytes += 1 << 20;
    self->result.run.queries_stopped_by_time++;
    self->result.run.queries_stopped_by_memory++;
    static const char *const keys[] = {"output", "witness.dir"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(mr_config_set(self->config, keys[i], "elsewhere", NULL, 0, NULL), MR_OK);
    assert_int_equal(mr_config_set(self->config, "quiet", "true", NULL, 0, NULL), MR_OK);
}

/* Without report.run nothing in a report depends on the run; with it the reports differ. */
static void test_without_run(void **state)
{
    (void)state;
    static const char *const values[] = {"true", "false"};
    for (int without = 0; without < 2; without++) {
        sample self;
        make_bank(&self);
        assert_int_equal(mr_config_set(self.config, "report.run", values[without], NULL, 0, NULL),
                         MR_OK);
        char *texts[2], *jsons[2];
        for (int run = 0; run < 2; run++) {
            texts[run] = report_text(&self);
            jsons[run] = report_json_text(&self);
            run_otherwise(&self);
        }
        assert_int_equal(strcmp(texts[0], texts[1]) == 0, without);
        assert_int_equal(strcmp(jsons[0], jsons[1]) == 0, without);
        assert_int_equal(strstr(texts[0], "\nRun\n") == NULL, without);
        assert_int_equal(strstr(jsons[0], "\"run\":") == NULL, without);
        for (int run = 0; run < 2; run++) {
            free(texts[run]);
            free(jsons[run]);
        }
        sample_free(&self);
    }
}

/* The longest line of a table, in characters. */
static size_t longest_table_line(const char *text)
{
    size_t longest = 0, width = 0;
    bool table = false;
    for (; *text != '\0'; text++) {
        if (width == 0)
            table = *text == ' ' || *text == '=';
        if (*text == '\n') {
            if (table && width > longest)
                longest = width;
            width = 0;
        } else if (((unsigned char)*text & 0xc0) != 0x80) {
            width++;
        }
    }
    return longest;
}

static void test_full_schedule(void **state)
{
    (void)state;
    sample self;
    make_long(&self);
    char *text = report_text(&self);
    assert_non_null(strstr(text, "left out"));
    assert_true(longest_table_line(text) <= MR_LINE_WIDTH);
    /* The write of the race's variable is shown, deep in a run of others. */
    assert_non_null(strstr(text, "\n         200  w(x=1)"));
    free(text);
    assert_int_equal(mr_config_set(self.config, "report.schedule", "full", NULL, 0, NULL), MR_OK);
    text = report_text(&self);
    assert_null(strstr(text, "left out"));
    assert_non_null(strstr(text, "\n         567  "));
    free(text);
    sample_free(&self);
}

static json_t *report_json(const sample *self)
{
    char *text = report_json_text(self);
    json_t *report = mr_schema_parse(text);
    free(text);
    return report;
}

static json_t *load_schema(void)
{
    return mr_schema_load("docs/report.schema.json");
}

static void test_json_schema(void **state)
{
    (void)state;
    json_t *schema = load_schema();
    for (size_t i = 0; i < golden_count; i++) {
        sample self;
        char problem[256] = "";
        goldens[i].make(&self);
        json_t *report = report_json(&self);
        if (!mr_schema_fits(schema, schema, report, problem))
            fail_msg("%s: %s", goldens[i].name, problem);
        json_decref(report);
        sample_free(&self);
    }
    json_decref(schema);
}

/* The value and, when the type writes it otherwise, its text. */
static void test_values_by_type(void **state)
{
    (void)state;
    sample self;
    char *page = NULL;
    size_t length;
    mr_error error = {0};
    make_types(&self);
    char *text = report_json_text(&self);
    assert_non_null(strstr(text, "\"location\":\"10\",\"value\":0,\"value_text\":\"false\"}"));
    assert_non_null(strstr(text, "\"location\":\"1\",\"value\":1,\"value_text\":\"BUSY(1)\"}"));
    assert_non_null(strstr(text, "\"location\":\"4\",\"value\":-5}"));
    FILE *stream = open_memstream(&page, &length);
    assert_int_equal(mr_predict_report_html(stream, self.trace, self.config, &self.result, &error),
                     MR_OK);
    fclose(stream);
    assert_non_null(strstr(page, "w(state=BUSY(1))"));
    assert_non_null(strstr(page, "r(open=false)"));
    free(page);
    free(text);
    sample_free(&self);
}

/* The schema refuses what is not a report, so that the test above can fail. */
static void test_json_schema_refuses(void **state)
{
    (void)state;
    sample self;
    char problem[256];
    json_t *schema = load_schema();
    make_bank(&self);
    json_t *report = report_json(&self);
    json_t *race = json_array_get(json_object_get(report, "races"), 0);
    json_object_set_new(race, "order", json_string("cp"));
    assert_false(mr_schema_fits(schema, schema, report, problem));
    json_object_set_new(race, "order", json_string("hb"));
    assert_true(mr_schema_fits(schema, schema, report, problem));
    json_object_set_new(json_object_get(race, "first"), "event", json_string("3"));
    assert_false(mr_schema_fits(schema, schema, report, problem));
    json_object_set_new(json_object_get(race, "first"), "event", json_integer(3));
    json_array_append_new(json_object_get(race, "window"), json_integer(3));
    assert_false(mr_schema_fits(schema, schema, report, problem));
    json_object_del(race, "window");
    assert_false(mr_schema_fits(schema, schema, report, problem));
    json_decref(report);
    json_decref(schema);
    sample_free(&self);
}

/* The example of the documentation, member by member. */
static void test_json_content(void **state)
{
    (void)state;
    sample self;
    json_t *expected, *report;
    make_bank(&self);
    report = report_json(&self);
    expected = json_pack(
        "{s:{s:i,s:i,s:s,s:s,s:s,s:s,s:i,s:s,s:s},s:{s:i,s:i,s:s,s:s,s:s,s:s,s:s,s:i,s:s},"
        "s:s,s:s,s:[i,i],s:[i,i,i,i],s:i,s:s}",
        "first", "event", 3, "line", 9, "thread", "T1", "op", "w", "variable", "V1",
        "variable_text", "bank.balance", "value", 6, "location", "11", "location_text",
        "src/bank.c:11", "second", "event", 9, "line", 15, "thread", "T2", "thread_text", "teller",
        "op", "r", "variable", "V1", "variable_text", "bank.balance", "value", 6, "location", "26",
        "order", "hb", "confirmed_by", "linearise", "window", 2, 11, "witness", 5, 6, 7, 8,
        "number", 1, "fingerprint", "0");
    assert_non_null(expected);
    json_t *race = json_array_get(json_object_get(report, "races"), 0);
    json_object_set(expected, "fingerprint", json_object_get(race, "fingerprint"));
    assert_true(json_equal(expected, race));
    json_decref(expected);
    assert_int_equal(json_array_size(json_object_get(report, "races")), 3);
    json_t *unknown = json_array_get(json_object_get(report, "unknown"), 0);
    assert_string_equal(json_string_value(json_object_get(unknown, "reason")), "time");
    assert_string_equal(json_string_value(json_object_get(unknown, "detail")), "canceled");
    json_t *size =
        json_object_get(json_object_get(json_object_get(report, "config"), "window"), "size");
    assert_int_equal(json_integer_value(size), 10000);
    json_t *trace = json_object_get(report, "trace");
    assert_int_equal(json_integer_value(json_object_get(trace, "events")), 11);
    assert_string_equal(json_string_value(json_object_get(trace, "file")), "sample.std");
    json_decref(report);
    sample_free(&self);
}

/* A long witness is told in runs, and fits the schema. */
static void test_json_runs(void **state)
{
    (void)state;
    enum { LENGTH = 5000, OTHER = 2000 };
    static char text[16 * (LENGTH + 2)];
    char *end = text, problem[256];
    for (int i = 0; i < LENGTH; i++)
        end += sprintf(end, i == OTHER ? "B|w(y)|1\n" : "A|w(z)|2\n");
    strcpy(end, "A|w(x)|3\nB|w(x)|4\n");
    static uint32_t events[LENGTH];
    for (uint32_t i = 0; i < LENGTH; i++)
        events[i] = i < OTHER ? i : i < LENGTH - 1 ? i + 1 : OTHER;
    sample self;
    sample_make(&self, text);
    add_race(&self,
             (mr_witness){.first = LENGTH,
                          .second = LENGTH + 1,
                          .window_end = LENGTH + 2,
                          .events = events,
                          .event_count = LENGTH},
             MR_STRENGTH_HB, MR_STEP_FAR);
    json_t *report = report_json(&self), *schema = load_schema();
    json_t *race = json_array_get(json_object_get(report, "races"), 0);
    json_t *expected =
        json_pack("[[i,i],[i,i],[i,i]]", 0, OTHER - 1, OTHER + 1, LENGTH - 1, OTHER, OTHER);
    assert_true(json_equal(json_object_get(race, "runs"), expected));
    assert_null(json_object_get(race, "witness"));
    if (!mr_schema_fits(schema, schema, report, problem))
        fail_msg("%s", problem);
    json_decref(expected);
    json_decref(schema);
    json_decref(report);
    sample_free(&self);
}

/* Names of any bytes: escaped in JSON, and control characters in text too. */
static void test_strange_names(void **state)
{
    (void)state;
    sample self;
    make_threads(&self);
    json_t *report = report_json(&self);
    json_t *race = json_array_get(json_object_get(report, "races"), 0);
    json_t *second = json_object_get(race, "second");
    assert_string_equal(json_string_value(json_object_get(second, "location")), "\x1b[31mred");
    assert_string_equal(json_string_value(json_object_get(second, "variable")), "z\xc3\xa9");
    json_decref(report);
    char *text = report_text(&self);
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "\xff"));
    assert_non_null(strstr(text, "\\x1b[31mred"));
    assert_non_null(strstr(text, "C\\xff"));
    assert_non_null(strstr(text, "w(v\\x5cx41)"));
    free(text);
    sample_free(&self);
}

/* A stream that is full is an error of every report. */
static void test_full_device(void **state)
{
    (void)state;
    sample self;
    mr_error error = {0};
    make_bank(&self);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(mr_predict_report_text(full, self.trace, self.config, &self.result, &error),
                     MR_ERR_IO);
    assert_non_null(strstr(error.text, "cannot write the report: "));
    clearerr(full);
    assert_int_equal(mr_predict_report_json(full, self.trace, self.config, &self.result, &error),
                     MR_ERR_IO);
    assert_string_equal(error.text, "cannot write the report: No space left on device");
    clearerr(full);
    assert_false(mr_report_schedule(full, self.trace, &self.races[0].witness));
    fclose(full);
    sample_free(&self);
}

/* Whichever allocation fails, ours or jansson's, a report says so and leaks nothing. */
static void test_no_memory(void **state)
{
    (void)state;
    sample self;
    mr_error error = {0};
    make_bank(&self);
    FILE *null = fopen("/dev/null", "w");
    mr_status status = MR_ERR_MEMORY;
    for (uint64_t n = 1; status != MR_OK; n++) {
        mr_memory_fail_after(n);
        status = mr_predict_report_json(null, self.trace, self.config, &self.result, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    }
    status = MR_ERR_MEMORY;
    for (uint64_t n = 0; status != MR_OK; n++) {
        mr_json_fail_after(n);
        status = mr_predict_report_json(null, self.trace, self.config, &self.result, &error);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    }
    mr_json_fail_never();
    status = MR_ERR_MEMORY;
    for (uint64_t n = 1; status != MR_OK; n++) {
        mr_memory_fail_after(n);
        status = mr_predict_report_text(null, self.trace, self.config, &self.result, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    }
    fclose(null);
    sample_free(&self);
}

/* Every word of the option has a row, and no row is empty. */
static void test_formats(void **state)
{
    (void)state;
    const char *words = mr_options[mr_config_find("format")].choices;
    int bars = 0;
    for (; *words != '\0'; words++)
        bars += *words == '|';
    assert_int_equal(bars + 1, MR_FORMAT_COUNT);
    for (int format = 0; format < MR_FORMAT_COUNT; format++) {
        bool any = false;
        for (int subject = 0; subject < MR_SUBJECT_COUNT; subject++)
            any = any || mr_format_has((mr_format)format, (mr_subject)subject);
        assert_true(any);
        assert_false(mr_format_has((mr_format)format, MR_SUBJECT_NONE));
        /* The reports of several runs contain those of predictions. */
        assert_true(!mr_format_has((mr_format)format, MR_SUBJECT_RUNS) ||
                    mr_format_has((mr_format)format, MR_SUBJECT_PREDICT));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_without_run),
        cmocka_unit_test(test_full_schedule),
        cmocka_unit_test(test_json_schema),
        cmocka_unit_test(test_json_schema_refuses),
        cmocka_unit_test(test_json_content),
        cmocka_unit_test(test_json_runs),
        cmocka_unit_test(test_values_by_type),
        cmocka_unit_test(test_strange_names),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
