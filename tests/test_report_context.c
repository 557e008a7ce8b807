/* What reports say of recorded programs: stacks, locks held, where threads were started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/sample.h"
#include "support/schema.h"

#include "engine/predict.h"
#include "report/predict_report.h"
#include "trace/columns.h"

#include <stdlib.h>
#include <string.h>

/* T1 holds m (outermost only) and, shared, s; of those that it gave back none is named. */
static const char text[] = "T0|fork(T1)|f.c:1\n"
                           "T1|acq(g)|a.c:1\nT1|rel(g)|a.c:2\n"
                           "T1|acq(m)|a.c:3\nT1|acq(m)|a.c:4\nT1|rel(m)|a.c:5\n"
                           "T1|racq(s)|a.c:6\nT1|w(x=1)|a.c:7\nT1|rrel(s)|a.c:8\n"
                           "T1|rel(m)|a.c:9\nT0|r(x=1)|b.c:1\n";
enum { FORK = 0, ACQUIRE = 3, SHARED = 6, WRITE = 7, READ = 10, EVENTS = 11, STACKS = 25 };

typedef struct reported {
    mr_trace *trace;
    mr_config *config;
    mr_result result;
} reported;

/* Stack 1 is main, 2 is deposit inlined into main, 24 is 22 deep calls of main. */
static void add_stacks(mr_trace *trace)
{
    static const char *const frames[] = {"main\tbank.c:3:1", "deposit\tbank.c:9:2\tinlined",
                                         "again\tbank.c:12:3"};
    uint32_t number;
    assert_int_equal(mr_columns_reserve_stacks(trace, EVENTS, NULL), MR_OK);
    memset(trace->stack, 0, EVENTS * sizeof *trace->stack);
    trace->stacks = calloc(STACKS, sizeof *trace->stacks);
    assert_non_null(trace->stacks);
    for (size_t i = 0; i < 3; i++)
        assert_true(mr_names_add(&trace->frames, frames[i], (uint32_t)strlen(frames[i]), &number));
    trace->stack_count = STACKS;
    trace->stacks[1] = (mr_stack){0, 0};
    trace->stacks[2] = (mr_stack){1, 1};
    for (uint32_t i = 3; i < STACKS; i++)
        trace->stacks[i] = (mr_stack){i > 3 ? i - 1 : 1, 2};
    trace->stack[FORK] = trace->stack[ACQUIRE] = 1;
    trace->stack[WRITE] = 2;
    trace->stack[READ] = STACKS - 1;
}

static void make(reported *self, bool with_stacks)
{
    mr_error error;
    *self = (reported){.trace = mr_sample_trace(text), .config = mr_config_new()};
    assert_non_null(self->trace);
    assert_non_null(self->config);
    assert_int_equal(self->trace->event_count, EVENTS);
    if (with_stacks)
        add_stacks(self->trace);
    mr_config_resolve(self->config);
    assert_int_equal(mr_predict(self->trace, self->config, NULL, &self->result, &error), MR_OK);
    assert_int_equal(self->result.race_count, 1);
}

static void discard(reported *self)
{
    mr_result_free(&self->result);
    mr_config_free(self->config);
    mr_trace_free(self->trace);
}

static char *print(const reported *self)
{
    char *items = NULL;
    size_t size;
    FILE *stream = open_memstream(&items, &size);
    assert_non_null(stream);
    mr_error error;
    assert_int_equal(
        mr_predict_report_text(stream, self->trace, self->config, &self->result, &error), MR_OK);
    fclose(stream);
    return items;
}

static void test_text(void **state)
{
    (void)state;
    static const char expected[] = "  first   write at a.c:7 by T1, event 7, line 8\n"
                                   "          in deposit at bank.c:9:2 (inlined)\n"
                                   "          by main at bank.c:3:1\n"
                                   "          holds m, taken at a.c:3, event 3\n"
                                   "            in main at bank.c:3:1\n"
                                   "          holds, shared, s, taken at a.c:6, event 6\n"
                                   "  second  read  at b.c:1 by T0, event 10, line 11\n"
                                   "          in again at bank.c:12:3\n"
                                   "          by again at bank.c:12:3\n";
    reported self;
    make(&self, true);
    char *printed = print(&self);
    if (!strstr(printed, expected))
        fail_msg("%s", printed);
    assert_non_null(strstr(printed, "          ... 7 more frames\n"
                                    "  thread  T1 was started by T0 at f.c:1, event 0\n"
                                    "          in main at bank.c:3:1\n"
                                    "  order "));
    free(printed);
    discard(&self);
}

/* Frames of libraries: the innermost one is shown, others only where they stand alone. */
static void test_libraries(void **state)
{
    (void)state;
    static const char take[] = "std::__new_allocator<std::pair<int const, long>, with_more>::take"
                               "\t/usr/include/a.h:1:2\tinlined";
    static const char *const frames[] = {take, "std::take\t/usr/include/a.h:7:2",
                                         "std::call\tlibx.so+0x1f", "work\tbank.c:5:1"};
    static const uint32_t of_write[] = {0, 1, 2, 3, 1, 3, 2, 2}; /* from the innermost one on */
    static const char expected[] =
        "          in std::__new_allocator<...>::take at /usr/include/a.h:1:2 (inlined)\n"
        "          ... 2 frames of libraries\n"
        "          by work at bank.c:5:1\n"
        "          by std::take at /usr/include/a.h:7:2\n"
        "          by work at bank.c:5:1\n"
        "          ... 2 frames of libraries\n"
        "          holds m";
    reported self;
    make(&self, true);
    uint32_t first = self.trace->frames.count, number;
    for (size_t i = 0; i < 4; i++)
        assert_true(
            mr_names_add(&self.trace->frames, frames[i], (uint32_t)strlen(frames[i]), &number));
    for (uint32_t i = 0; i < 8; i++)
        self.trace->stacks[3 + i] = (mr_stack){i ? 2 + i : 0, first + of_write[7 - i]};
    self.trace->stack[WRITE] = 10;
    char *printed = print(&self);
    if (!strstr(printed, expected))
        fail_msg("%s", printed);
    /* No frame is the program's own: all are shown. */
    self.trace->stack[WRITE] = 4;
    char *all = print(&self);
    if (!strstr(all, "          in std::call at libx.so+0x1f\n"
                     "          by std::call at libx.so+0x1f\n"
                     "          holds m"))
        fail_msg("%s", all);
    free(printed);
    free(all);
    discard(&self);
}

/* A trace without stacks is reported as ever. */
static void test_without(void **state)
{
    (void)state;
    reported self;
    make(&self, false);
    char *printed = print(&self);
    assert_non_null(strstr(printed, "  first   write at a.c:7 by T1, event 7, line 8\n"
                                    "  second  read  at b.c:1 by T0, event 10, line 11\n"
                                    "  order "));
    free(printed);
    discard(&self);
}

static void test_json(void **state)
{
    (void)state;
    reported self;
    mr_error error;
    char *items = NULL, reason[256];
    size_t size;
    make(&self, true);
    FILE *stream = open_memstream(&items, &size);
    assert_int_equal(mr_predict_report_json(stream, self.trace, self.config, &self.result, &error),
                     MR_OK);
    fclose(stream);
    json_t *report = mr_schema_parse(items);
    json_t *schema = mr_schema_load("docs/report.schema.json");
    if (!mr_schema_fits(schema, schema, report, reason))
        fail_msg("%s", reason);
    json_t *race = json_array_get(json_object_get(report, "races"), 0);
    json_t *first = json_object_get(race, "first"), *locks = json_object_get(first, "locks");
    json_t *stack = json_object_get(first, "stack"), *start = json_object_get(first, "start");
    assert_int_equal(json_array_size(stack), 2);
    assert_true(json_is_true(json_object_get(json_array_get(stack, 0), "inlined")));
    assert_int_equal(json_array_size(locks), 2);
    assert_true(json_is_true(json_object_get(json_array_get(locks, 1), "shared")));
    assert_int_equal(json_integer_value(json_object_get(start, "event")), FORK);
    json_t *second = json_object_get(race, "second");
    assert_int_equal(json_array_size(json_object_get(second, "stack")), STACKS - 2);
    assert_int_equal(json_array_size(json_object_get(second, "locks")), 0);
    assert_null(json_object_get(second, "start"));
    json_decref(report);
    json_decref(schema);
    free(items);
    discard(&self);
}

static void test_no_memory(void **state)
{
    (void)state;
    reported self;
    make(&self, true);
    FILE *stream = fopen("/dev/null", "w");
    mr_status status = MR_ERR_MEMORY;
    mr_error error;
    assert_non_null(stream);
    for (uint64_t n = 1; status != MR_OK; n++) {
        mr_memory_fail_after(n);
        status = mr_predict_report_json(stream, self.trace, self.config, &self.result, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    }
    fclose(stream);
    discard(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),      cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_without),   cmocka_unit_test(test_json),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
