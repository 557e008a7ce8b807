/* What `maxrace order` prints, from results made by hand: golden texts, the JSON schema, names of
 * any bytes, full devices, no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/order_report.h"
#include "support/golden.h"
#include "support/sample.h"
#include "support/schema.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sample {
    mr_trace *trace;
    mr_config *config;
    mr_order_result result;
} sample;

static void sample_make(sample *self, const char *text, mr_relation relation, uint32_t examples)
{
    *self = (sample){.trace = mr_sample_trace(text), .config = mr_config_new()};
    assert_non_null(self->trace);
    assert_non_null(self->config);
    mr_config_resolve(self->config);
    self->result.relation = relation;
    self->result.complete = true;
    mr_race_list_init(&self->result.list, examples, false);
}

static void sample_free(sample *self)
{
    mr_order_result_free(&self->result);
    mr_config_free(self->config);
    mr_trace_free(self->trace);
}

static mr_racing_access access_of(const mr_trace *trace, uint32_t event)
{
    return (mr_racing_access){event, trace->thread[event], trace->location[event],
                              trace->op[event]};
}

static void add_pair(sample *self, uint32_t first, uint32_t second)
{
    const mr_trace *trace = self->trace;
    mr_race_example pair = {.variable = trace->operand[first],
                            .first = access_of(trace, first),
                            .second = access_of(trace, second)};
    assert_true(mr_race_list_racy(&self->result.list, second, trace->location[second],
                                  trace->operand[second]));
    assert_true(mr_race_list_add(&self->result.list, &pair));
}

static void finish(sample *self, const mr_order_race *races)
{
    mr_order_result *result = &self->result;
    assert_true(mr_race_list_finish(&result->list));
    result->races = calloc(result->list.race_count + 1, sizeof *races);
    assert_non_null(result->races);
    for (size_t i = 0; races != NULL && i < result->list.race_count; i++) {
        result->races[i] = races[i];
        result->counts[races[i].standing]++;
    }
}

static mr_witness witness_of(uint32_t first, uint32_t second, uint32_t start, uint32_t end,
                             uint32_t event)
{
    mr_witness witness = {.first = first,
                          .second = second,
                          .window_start = start,
                          .window_end = end,
                          .model = MR_MODEL_RF,
                          .events = malloc(sizeof(uint32_t)),
                          .event_count = 1};
    assert_non_null(witness.events);
    witness.events[0] = event;
    return witness;
}

static const char bank_text[] =
    "#@loc 11 src/bank.c:11\n#@loc 27 src/bank.c:27\n#@var V1 bank.balance\n#@thread T2 teller\n"
    "T1|w(V1=5)|5\nT2|w(q=1)|6\nT2|r(V1=5)|27\nT1|w(V1=6)|5\nT2|r(V1=6)|27\nT1|r(q=1)|\n"
    "T2|w(V1=7)|11\nT1|w(V1=8)|11\nT1|w(z=1)|30\nT2|w(z=2)|31\n";

/* All standings, two examples, a witness for other accesses than those shown. */
static void make_standings(sample *self)
{
    sample_make(self, bank_text, MR_RELATION_WCP, 2);
    add_pair(self, 0, 2);
    add_pair(self, 3, 4);
    add_pair(self, 1, 5);
    add_pair(self, 3, 6);
    add_pair(self, 6, 7);
    add_pair(self, 8, 9);
    finish(self, (mr_order_race[]){
                     {.standing = MR_STANDING_RACE,
                      .proof = MR_PROOF_SHB,
                      .witness = witness_of(3, 4, 3, 5, 2)},
                     {.standing = MR_STANDING_UNKNOWN,
                      .reason = MR_UNKNOWN_TIME,
                      .detail = "canceled",
                      .window_start = 1,
                      .window_end = 6},
                     {.standing = MR_STANDING_NO_RACE, .window_start = 2, .window_end = 8},
                     {.standing = MR_STANDING_CANDIDATE},
                     {.standing = MR_STANDING_RACE,
                      .proof = MR_PROOF_DECISION,
                      .witness = witness_of(8, 9, 0, 10, 3)},
                 });
    self->result.stats = (mr_order_stats){.read_seconds = 0.5,
                                          .find_seconds = 0.25,
                                          .load_seconds = 0.125,
                                          .mark_seconds = 1,
                                          .confirm_seconds = 2,
                                          .total_seconds = 4,
                                          .rejected_witnesses = 1,
                                          .peak_memory_bytes = 3 << 20,
                                          .queries_stopped_by_time = 2};
}

static void make_none(sample *self)
{
    sample_make(self, bank_text, MR_RELATION_SYNCP, 1);
    finish(self, NULL);
}

/* A damaged trace, and nothing checked. */
static void make_partial(sample *self)
{
    sample_make(self, bank_text, MR_RELATION_FHB, 1);
    add_pair(self, 0, 2);
    self->result.complete = false;
    finish(self, (mr_order_race[]){{.standing = MR_STANDING_SOUND, .proof = MR_PROOF_FHB}});
}

typedef struct golden {
    const char *name; /* tests/golden/NAME.txt */
    void (*make)(sample *self);
} golden;

static const golden goldens[] = {
    {"order-standings", make_standings},
    {"order-none", make_none},
    {"order-partial", make_partial},
};
static const size_t golden_count = sizeof goldens / sizeof goldens[0];

static char *report_text(const sample *self)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    mr_error error;
    assert_int_equal(mr_order_report_text(stream, self->trace, self->config, &self->result, &error),
                     MR_OK);
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

static json_t *report_json(const sample *self)
{
    char *text = NULL;
    size_t length;
    mr_error error = {0};
    FILE *stream = open_memstream(&text, &length);
    mr_status status =
        mr_order_report_json(stream, self->trace, self->config, &self->result, &error);
    fclose(stream);
    if (status != MR_OK)
        fail_msg("%s", error.text);
    json_t *report = mr_schema_parse(text);
    free(text);
    return report;
}

static json_t *load_schema(json_t **part)
{
    json_t *schema = mr_schema_load("docs/report.schema.json");
    *part = json_object_get(json_object_get(schema, "definitions"), "order_report");
    assert_non_null(*part);
    return schema;
}

static void test_json_schema(void **state)
{
    (void)state;
    json_t *part, *schema = load_schema(&part);
    for (size_t i = 0; i < golden_count; i++) {
        sample self;
        char problem[256] = "";
        goldens[i].make(&self);
        json_t *report = report_json(&self);
        if (!mr_schema_fits(schema, part, report, problem))
            fail_msg("%s: %s", goldens[i].name, problem);
        json_object_set_new(json_object_get(report, "order"), "relation", json_string("po"));
        assert_false(mr_schema_fits(schema, part, report, problem));
        json_decref(report);
        sample_free(&self);
    }
    json_decref(schema);
}

/* The members of a race, as the documentation shows them. */
static void test_json_content(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "{\"status\": \"race\", \"proved_by\": \"shb\", \"examples\": ["
        "{\"first\": {\"event\": 0, \"line\": 5, \"thread\": \"T1\", \"op\": \"w\", "
        "\"variable\": \"V1\", \"variable_text\": \"bank.balance\", \"location\": \"5\"}, "
        "\"second\": {\"event\": 2, \"line\": 7, \"thread\": \"T2\", \"thread_text\": \"teller\", "
        "\"op\": \"r\", \"variable\": \"V1\", \"variable_text\": \"bank.balance\", "
        "\"location\": \"27\", \"location_text\": \"src/bank.c:27\"}}, "
        "{\"first\": {\"event\": 3, \"line\": 8, \"thread\": \"T1\", \"op\": \"w\", "
        "\"variable\": \"V1\", \"variable_text\": \"bank.balance\", \"location\": \"5\"}, "
        "\"second\": {\"event\": 4, \"line\": 9, \"thread\": \"T2\", \"thread_text\": \"teller\", "
        "\"op\": \"r\", \"variable\": \"V1\", \"variable_text\": \"bank.balance\", "
        "\"location\": \"27\", \"location_text\": \"src/bank.c:27\"}}], "
        "\"witness\": {\"first\": 3, \"second\": 4, \"model\": \"rf\", \"window\": [3, 5], "
        "\"events\": [2]}}",
    };
    sample self;
    make_standings(&self);
    json_t *report = report_json(&self), *races = json_object_get(report, "races");
    json_t *want = json_loads(expected[0], 0, NULL);
    assert_non_null(want);
    assert_true(json_equal(want, json_array_get(races, 0)));
    json_decref(want);
    assert_int_equal(json_array_size(races), 5);
    json_t *unknown = json_array_get(races, 1), *none = json_array_get(races, 2);
    assert_string_equal(json_string_value(json_object_get(unknown, "reason")), "time");
    assert_string_equal(json_string_value(json_object_get(unknown, "detail")), "canceled");
    assert_null(json_object_get(unknown, "witness"));
    assert_int_equal(json_integer_value(json_array_get(json_object_get(none, "window"), 1)), 8);
    json_t *order = json_object_get(report, "order");
    assert_int_equal(json_integer_value(json_object_get(order, "racy_events")), 6);
    assert_int_equal(json_integer_value(json_object_get(order, "racy_locations")), 4);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(order, "status"), "race")),
                     2);
    json_decref(report);
    sample_free(&self);
}

/* Names of any bytes. */
static void test_strange_names(void **state)
{
    (void)state;
    sample self;
    sample_make(&self, "A\x1b[31m|w(x\xff)|l\xfe\nB|w(x\xff)|\xc3\xa9\n", MR_RELATION_HB, 1);
    add_pair(&self, 0, 1);
    finish(&self, (mr_order_race[]){{.standing = MR_STANDING_CANDIDATE}});
    char *text = report_text(&self);
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "\xff"));
    assert_non_null(strstr(text, "A\\x1b[31m"));
    assert_non_null(strstr(text, "l\\xfe"));
    free(text);
    json_decref(report_json(&self));
    sample_free(&self);
}

static void test_full_device(void **state)
{
    (void)state;
    sample self;
    mr_error error = {0};
    make_standings(&self);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(mr_order_report_text(full, self.trace, self.config, &self.result, &error),
                     MR_ERR_IO);
    clearerr(full);
    assert_int_equal(mr_order_report_json(full, self.trace, self.config, &self.result, &error),
                     MR_ERR_IO);
    assert_string_equal(error.text, "cannot write the report: No space left on device");
    fclose(full);
    sample_free(&self);
}

/* Whichever allocation fails, ours or jansson's, a report says so and leaks nothing. */
static void test_no_memory(void **state)
{
    (void)state;
    sample self;
    mr_error error = {0};
    make_standings(&self);
    FILE *null = fopen("/dev/null", "w");
    mr_status status = MR_ERR_MEMORY;
    uint64_t n;
    for (n = 1; status != MR_OK; n++) {
        mr_memory_fail_after(n);
        status = mr_order_report_json(null, self.trace, self.config, &self.result, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    }
    assert_true(n > 10);
    status = MR_ERR_MEMORY;
    for (n = 0; status != MR_OK; n++) {
        mr_json_fail_after(n);
        status = mr_order_report_json(null, self.trace, self.config, &self.result, &error);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    }
    mr_json_fail_never();
    assert_true(n > 10);
    status = MR_ERR_MEMORY;
    for (n = 1; status != MR_OK; n++) {
        mr_memory_fail_after(n);
        status = mr_order_report_text(null, self.trace, self.config, &self.result, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    }
    assert_true(n > 4);
    fclose(null);
    sample_free(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),       cmocka_unit_test(test_json_schema),
        cmocka_unit_test(test_json_content), cmocka_unit_test(test_strange_names),
        cmocka_unit_test(test_full_device),  cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
