/* The public interface of the whole-trace orders and of converting: only maxrace.h, as a program
 * outside would use it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "maxrace.h"
#include "support/scratch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* T2 reads y only after it has seen x, so that only the race on x is one; T3 and T4, which have
 * seen nothing, read y, too. hb reports all of them. */
static const char trace_text[] = "#@loc 4 Account.java:4\n#@var y Account.open\n"
                                 "T1|w(y=1)|1\nT1|w(x=1)|2\nT2|r(x=1)|3\nT2|r(y=1)|4\n"
                                 "T3|r(y=1)|4\nT4|r(y=1)|4\n";
/* A whole trace with one race, then a line that is none. */
static const char broken_text[] = "T1|w(x=1)|10\nT2|w(x=1)|20\nT2|rel(l)|15\nT3|w(x=1)|30\n";

typedef struct fixture {
    mr_failure *failure;
    mr_config *config;
    mr_trace *trace;
    mr_scratch scratch;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    mr_scratch_make(&f.scratch);
    f.failure = mr_failure_create();
    f.config = mr_config_create();
    f.trace = mr_trace_open_memory("account", trace_text, strlen(trace_text), false, f.failure);
    *state = &f;
    return f.failure == NULL || f.config == NULL || f.trace == NULL;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    mr_trace_close(f->trace);
    mr_config_destroy(f->config);
    mr_failure_destroy(f->failure);
    mr_scratch_remove(&f->scratch);
    return 0;
}

static void set(const fixture *f, const char *key, const char *value)
{
    assert_true(mr_config_assign(f->config, key, value, f->failure));
}

static mr_order_report *run(const fixture *f, const char *relation)
{
    mr_order_report *report = NULL;
    set(f, "relation", relation);
    assert_true(mr_order_report_run(f->trace, f->config, &report, f->failure));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_NONE);
    return report;
}

static void test_counts(void **state)
{
    const fixture *f = *state;
    static const struct {
        const char *relation;
        bool sound;
        size_t racy_events, static_races, proven;
    } rows[] = {
        {"hb", false, 4, 2, 2}, {"fhb", true, 3, 2, 2},  {"shb", true, 3, 2, 2},
        {"cp", false, 4, 2, 2}, {"wcp", false, 4, 2, 2}, {"syncp", true, 3, 2, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_order_counts counts;
        mr_order_report *report = run(f, rows[i].relation);
        mr_order_report_get_counts(report, &counts);
        assert_string_equal(counts.relation, rows[i].relation);
        assert_int_equal(counts.sound, rows[i].sound);
        assert_true(counts.complete);
        assert_int_equal(counts.events, 6);
        assert_int_equal(counts.racy_events, rows[i].racy_events);
        assert_int_equal(counts.static_races, rows[i].static_races);
        assert_int_equal(counts.proven, rows[i].proven);
        assert_int_equal(counts.candidates, 0);
        mr_order_report_free(report);
    }
}

/* Each race of a sound order has a witness that the checker accepts. */
static void test_races(void **state)
{
    const fixture *f = *state;
    mr_order_race_info race;
    mr_event first, second;
    set(f, "examples", "2");
    mr_order_report *report = run(f, "shb");
    for (size_t i = 0; i < 2; i++) {
        mr_order_report_get_race(report, i, &race);
        assert_string_equal(race.status, "race");
        assert_string_equal(race.proved_by, "shb");
        assert_true(race.has_witness);
        assert_int_equal(mr_check_witness(f->trace, "rf", &race.witness, f->failure), MR_ACCEPTED);
    }
    assert_int_equal(race.example_count, 2);
    mr_order_report_get_example(report, 1, 0, &first, &second);
    assert_int_equal(first.number, 0);
    assert_int_equal(second.number, 4);
    assert_int_equal(second.line, 7);
    assert_string_equal(first.operation, "w");
    assert_string_equal(second.operation, "r");
    assert_string_equal(second.thread, "T3");
    assert_string_equal(second.operand, "y");
    assert_string_equal(second.operand_text, "Account.open");
    assert_string_equal(second.location, "4");
    assert_string_equal(second.location_text, "Account.java:4");
    mr_order_report_get_example(report, 1, 1, &first, &second);
    assert_int_equal(second.number, 5);
    mr_order_report_free(report);
}

/* What is not proven, and what `confirm` makes of it. */
static void test_standings(void **state)
{
    const fixture *f = *state;
    mr_order_counts counts;
    mr_order_race_info race;
    set(f, "mark", "false");
    mr_order_report *report = run(f, "hb");
    mr_order_report_get_counts(report, &counts);
    assert_int_equal(counts.proven, 0);
    assert_int_equal(counts.candidates, 2);
    mr_order_report_get_race(report, 0, &race);
    assert_string_equal(race.status, "candidate");
    assert_string_equal(race.proved_by, "");
    assert_false(race.has_witness);
    mr_order_report_free(report);
    set(f, "confirm", "true");
    report = run(f, "hb");
    mr_order_report_get_race(report, 0, &race);
    assert_string_equal(race.status, "race");
    assert_string_equal(race.proved_by, "decision");
    assert_int_equal(mr_check_witness(f->trace, "value", &race.witness, f->failure), MR_ACCEPTED);
    mr_order_report_get_race(report, 1, &race);
    assert_string_equal(race.status, "no-race"); /* its first example is the guarded pair */
    mr_order_report_free(report);
    set(f, "witness.check", "false");
    report = run(f, "syncp");
    mr_order_report_get_race(report, 0, &race);
    assert_string_equal(race.status, "sound");
    assert_false(race.has_witness);
    mr_order_report_free(report);
}

static bool run_text(const fixture *f, const char *text, mr_order_report **report)
{
    char path[512];
    mr_scratch_write(&f->scratch, "trace.std", text, path);
    return mr_order_report_run_file(path, f->config, report, f->failure);
}

static void test_files(void **state)
{
    const fixture *f = *state;
    static const char *const relations[] = {"hb", "shb", "wcp", "cp", "syncp"};
    mr_order_report *report;
    mr_order_counts counts, expected;
    mr_event first, second;
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        mr_order_report *same = run(f, relations[i]);
        mr_order_report_get_counts(same, &expected);
        mr_order_report_free(same);
        assert_true(run_text(f, trace_text, &report));
        mr_order_report_get_counts(report, &counts);
        assert_int_equal(counts.racy_events, expected.racy_events);
        assert_int_equal(counts.static_races, expected.static_races);
        assert_int_equal(counts.proven, expected.proven);
        mr_order_report_get_example(report, 0, 0, &first, &second);
        assert_int_equal(first.number, 1);
        assert_int_equal(second.line, 5);
        mr_order_report_free(report);
    }
}

static void test_failures(void **state)
{
    const fixture *f = *state;
    mr_order_report *report;
    mr_order_counts counts;
    set(f, "relation", "shb");
    assert_false(run_text(f, broken_text, &report));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_TRACE);
    assert_non_null(strstr(mr_failure_message(f->failure), "trace.std:3: "));
    mr_order_report_get_counts(report, &counts);
    assert_false(counts.complete);
    assert_int_equal(counts.static_races, 1);
    assert_int_equal(counts.proven, 1);
    mr_order_report_free(report);
    set(f, "repair", "true");
    assert_true(run_text(f, broken_text, &report));
    mr_order_report_get_counts(report, &counts);
    assert_int_equal(counts.events, 3);
    mr_order_report_free(report);
    assert_false(mr_order_report_run_file("no/such/file", NULL, &report, f->failure));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_IO);
    assert_null(report);
    assert_false(mr_config_assign(f->config, "relation", "po", f->failure));
    mr_order_report_free(NULL);
}

static void test_memory_of_defaults(void **state)
{
    const fixture *f = *state;
    mr_order_report *report;
    mr_order_counts counts;
    assert_true(mr_order_report_run(f->trace, NULL, &report, NULL));
    mr_order_report_get_counts(report, &counts);
    assert_string_equal(counts.relation, "shb");
    mr_order_report_free(report);
}

static void test_reports(void **state)
{
    const fixture *f = *state;
    mr_order_report *report = run(f, "syncp");
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_true(mr_order_report_write_text(report, stream, f->failure));
    assert_true(mr_order_report_write_json(report, stream, f->failure));
    fclose(stream);
    assert_non_null(strstr(text, "\n2 static races of syncp: 2 proven\n"));
    assert_non_null(strstr(text, "\"relation\":\"syncp\""));
    free(text);
    stream = fopen("/dev/full", "w");
    assert_non_null(stream);
    setvbuf(stream, NULL, _IONBF, 0);
    assert_false(mr_order_report_write_text(report, stream, f->failure));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_IO);
    fclose(stream);
    mr_order_report_free(report);
}

/* Text → .mrt → text gives the text back. */
static void test_convert(void **state)
{
    const fixture *f = *state;
    char from[512], to[512], back[512];
    FILE *stream = fopen(mr_scratch_path(&f->scratch, "trace.mrt", to), "wb");
    mr_scratch_write(&f->scratch, "trace.std", trace_text, from);
    assert_non_null(stream);
    assert_true(mr_trace_convert(from, false, stream, f->failure));
    assert_int_equal(fclose(stream), 0);
    mr_trace *trace = mr_trace_open(to, false, f->failure);
    assert_non_null(trace);
    stream = fopen(mr_scratch_path(&f->scratch, "back.std", back), "wb");
    assert_non_null(stream);
    assert_true(mr_trace_write_text(trace, stream, f->failure));
    assert_int_equal(fclose(stream), 0);
    mr_trace_close(trace);
    char *text = mr_file_text(back);
    assert_non_null(text);
    assert_string_equal(text, trace_text);
    free(text);
    stream = fopen("/dev/null", "wb");
    mr_scratch_write(&f->scratch, "trace.std", broken_text, from);
    assert_false(mr_trace_convert(from, false, stream, f->failure));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_TRACE);
    assert_true(mr_trace_convert(from, true, stream, f->failure));
    fclose(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_races, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_standings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_of_defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_convert, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
