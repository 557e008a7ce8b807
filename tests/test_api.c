/* The public interface: only maxrace.h, as a program outside would use it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "maxrace.h"
#include "support/scratch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char hidden_race[] = "#@var V1 bank.balance\n"
                                  "#@loc 21 bank.c:21\n"
                                  "T1|w(V1=150)|21\n"
                                  "T1|acq(L1)|22\n"
                                  "T1|rel(L1)|24\n"
                                  "T2|acq(L1)|31\n"
                                  "T2|rel(L1)|33\n"
                                  "T2|r(V1=150)|34\n";

typedef struct fixture {
    mr_failure *failure;
    mr_config *config;
    mr_trace *trace;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f.failure = mr_failure_create();
    f.config = mr_config_create();
    f.trace = mr_trace_open_memory("bank", hidden_race, strlen(hidden_race), false, f.failure);
    *state = &f;
    return f.failure == NULL || f.config == NULL || f.trace == NULL;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    mr_trace_close(f->trace);
    mr_config_destroy(f->config);
    mr_failure_destroy(f->failure);
    return 0;
}

static mr_prediction *predict(const fixture *f)
{
    mr_prediction *prediction = NULL;
    assert_true(mr_prediction_run(f->trace, f->config, &prediction, f->failure));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_NONE);
    return prediction;
}

static void test_trace(void **state)
{
    const fixture *f = *state;
    mr_event event;
    char text[32], cut[3];
    assert_int_equal(mr_trace_event_count(f->trace), 6);
    assert_int_equal(mr_trace_thread_count(f->trace), 2);
    assert_int_equal(mr_trace_lock_count(f->trace), 1);
    assert_int_equal(mr_trace_variable_count(f->trace), 1);
    assert_int_equal(mr_trace_dropped_count(f->trace), 0);
    mr_trace_get_event(f->trace, 0, &event);
    assert_int_equal(event.line, 3);
    assert_string_equal(event.operation, "w");
    assert_string_equal(event.thread, "T1");
    assert_string_equal(event.thread_text, "T1");
    assert_string_equal(event.operand, "V1");
    assert_string_equal(event.operand_text, "bank.balance");
    assert_string_equal(event.location, "21");
    assert_string_equal(event.location_text, "bank.c:21");
    assert_int_equal(mr_trace_event_operation(f->trace, 0, text, sizeof text), 9);
    assert_string_equal(text, "w(V1=150)");
    assert_int_equal(mr_trace_event_operation(f->trace, 0, cut, sizeof cut), 9);
    assert_string_equal(cut, "w(");
    assert_int_equal(mr_trace_event_operation(f->trace, 0, NULL, 0), 9);
}

static void test_bad_traces(void **state)
{
    static const struct {
        const char *text;
        const char *message; /* NULL: the trace is good */
    } cases[] = {
        {"T1|rel(l)|1\n", "bad:1: "},
        {"T1|w(x)|1\nT1 w x\n", "bad:2: "},
        {"T1|w(x)|1\n", NULL},
        {"", NULL},
    };
    const fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_trace *trace =
            mr_trace_open_memory("bad", cases[i].text, strlen(cases[i].text), false, f->failure);
        const char *message = mr_failure_message(f->failure);
        if (cases[i].message == NULL) {
            assert_non_null(trace);
            assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_NONE);
            assert_string_equal(message, "");
        } else {
            assert_null(trace);
            assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_TRACE);
            assert_int_equal(strncmp(message, cases[i].message, strlen(cases[i].message)), 0);
        }
        mr_trace_close(trace);
    }
}

static void test_repair(void **state)
{
    const fixture *f = *state;
    static const char text[] = "T1|rel(l)|1\nT1|w(x)|2\n";
    mr_trace *trace = mr_trace_open_memory("bad", text, strlen(text), true, f->failure);
    assert_non_null(trace);
    assert_int_equal(mr_trace_dropped_count(trace), 1);
    assert_int_equal(mr_trace_event_count(trace), 1);
    mr_trace_close(trace);
}

static void test_ending(void **state)
{
    const fixture *f = *state;
    static const char text[] = "#@end signal 11\n#@end stopped max-log\n#@end children 2\n"
                               "#@end unseen openmp\n#@end detail T1 waits\nT1|w(x)|2\n";
    mr_ending_info ending;
    mr_trace_get_ending(f->trace, &ending);
    assert_false(ending.is_known || ending.bad || ending.unseen);
    assert_true(ending.exit_status == -1 && ending.signal == -1 && ending.children == 0);
    assert_true(ending.stopped[0] == '\0' && ending.details[0] == '\0');
    mr_trace *trace = mr_trace_open_memory("bad", text, strlen(text), false, f->failure);
    assert_non_null(trace);
    mr_trace_get_ending(trace, &ending);
    assert_true(ending.is_known && ending.bad && ending.unseen);
    assert_true(ending.exit_status == -1 && ending.signal == 11 && ending.children == 2);
    assert_string_equal(ending.stopped, "max-log");
    assert_string_equal(ending.details, "T1 waits\n");
    mr_trace_close(trace);
}

static void test_files(void **state)
{
    const fixture *f = *state;
    mr_trace *trace = mr_trace_open("examples/bank.std", false, f->failure);
    assert_non_null(trace);
    mr_trace_close(trace);
    assert_null(mr_trace_open("no/such/trace.std", false, f->failure));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_IO);
    assert_non_null(strstr(mr_failure_message(f->failure), "no/such/trace.std"));
    assert_null(mr_trace_open("no/such/trace.std", false, NULL));
}

static void test_configured_trace(void **state)
{
    const fixture *f = *state;
    mr_scratch scratch;
    char path[512];
    mr_scratch_make(&scratch);
    mr_scratch_write(&scratch, "bad.std", "T|rel(l)|1\nT|w(x=1)|2\n", path);
    assert_null(mr_trace_open_configured(path, f->config, f->failure));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_TRACE);
    assert_null(mr_trace_open_configured(path, NULL, NULL));
    assert_true(mr_config_assign(f->config, "repair", "true", f->failure));
    mr_trace *trace = mr_trace_open_configured(path, f->config, f->failure);
    assert_non_null(trace);
    assert_int_equal(mr_trace_event_count(trace), 1);
    mr_trace_close(trace);
    mr_scratch_remove(&scratch);
}

static void test_config(void **state)
{
    const fixture *f = *state;
    char value[16];
    assert_true(mr_config_read_file(f->config, "config.yaml", f->failure));
    assert_true(mr_config_assign(f->config, "model", "rf", f->failure));
    assert_int_equal(mr_config_get(f->config, "model", value, sizeof value), 2);
    assert_string_equal(value, "rf");
    assert_false(mr_config_assign(f->config, "modle", "rf", f->failure));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_CONFIG);
    assert_non_null(strstr(mr_failure_message(f->failure), "'model'"));
    assert_false(mr_config_assign(f->config, "window.size", "many", f->failure));
    assert_false(mr_config_read_file(f->config, "no/such/file.yaml", f->failure));
    assert_true(mr_config_get(f->config, "modle", value, sizeof value) == SIZE_MAX);
    assert_int_equal(mr_config_get(f->config, "model", NULL, 0), 2);
}

static void test_prediction(void **state)
{
    const fixture *f = *state;
    mr_prediction *prediction = predict(f);
    assert_int_equal(mr_prediction_unknown_count(prediction), 0);
    assert_int_equal(mr_prediction_race_count(prediction), 1);
    mr_race_info race;
    mr_prediction_get_race(prediction, 0, &race);
    assert_int_equal(race.first, 0);
    assert_int_equal(race.second, 5);
    assert_int_equal(race.window_start, 0);
    assert_int_equal(race.window_end, 6);
    assert_string_equal(race.order, "wcp");
    assert_string_equal(race.confirmed_by, "linearise");
    assert_int_equal(race.witness_count, 2);
    assert_int_equal(race.witness[0], 3);
    assert_int_equal(race.witness[1], 4);
    mr_prediction_free(prediction);
}

static void test_defaults_and_failures(void **state)
{
    const fixture *f = *state;
    mr_prediction *prediction = NULL;
    assert_true(mr_prediction_run(f->trace, NULL, &prediction, NULL));
    assert_int_equal(mr_prediction_race_count(prediction), 1);
    mr_prediction_free(prediction);

    assert_true(mr_config_assign(f->config, "window.overlap", "20000", f->failure));
    assert_false(mr_prediction_run(f->trace, f->config, &prediction, f->failure));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_CONFIG);
    mr_prediction_free(prediction);
}

/* Two sections must change places, so a bounded solver may not know. */
static void test_unknown(void **state)
{
    static const char text[] = "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\n"
                               "T2|acq(l)|4\nT2|rel(l)|5\nT2|w(x)|6\n";
    const fixture *f = *state;
    mr_prediction *prediction = NULL;
    mr_trace *trace = mr_trace_open_memory("hard", text, strlen(text), false, f->failure);
    assert_true(mr_config_assign(f->config, "solver.steps", "filter,cone,z3", f->failure));
    assert_true(mr_config_assign(f->config, "solver.max_clauses", "1", f->failure));
    assert_true(mr_prediction_run(trace, f->config, &prediction, f->failure));
    assert_int_equal(mr_prediction_race_count(prediction) + mr_prediction_unknown_count(prediction),
                     1);
    if (mr_prediction_unknown_count(prediction) == 1) {
        mr_unknown_info unknown;
        mr_prediction_get_unknown(prediction, 0, &unknown);
        assert_int_equal(unknown.first, 1);
        assert_int_equal(unknown.second, 5);
        assert_string_equal(unknown.reason, "size");
        assert_non_null(unknown.detail);
    }
    mr_prediction_free(prediction);
    mr_trace_close(trace);
}

static void test_checker(void **state)
{
    const fixture *f = *state;
    mr_prediction *prediction = predict(f);
    mr_race_info race;
    mr_prediction_get_race(prediction, 0, &race);
    assert_int_equal(mr_check_witness(f->trace, "value", &race, f->failure), MR_ACCEPTED);
    assert_int_equal(mr_check_witness(f->trace, "rf", &race, NULL), MR_ACCEPTED);
    assert_int_equal(mr_check_witness(f->trace, "magic", &race, f->failure), MR_NOT_JUDGED);
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_USAGE);
    race.witness_count = 1; /* the lock is held, which nothing forbids, but T2 is not at its read */
    assert_int_equal(mr_check_witness(f->trace, "value", &race, f->failure), MR_REJECTED);
    assert_true(strlen(mr_failure_message(f->failure)) > 0);
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_NONE);
    race.second = 4000000000u;
    assert_int_equal(mr_check_witness(f->trace, "value", &race, f->failure), MR_REJECTED);
    mr_prediction_free(prediction);
}

static void write_file(const mr_prediction *prediction, const char *path, mr_failure *failure)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_true(mr_prediction_write_witness(prediction, 0, stream, failure));
    assert_int_equal(fclose(stream), 0);
}

/* A use after free, a deadlock and a null pointer, each in a run in which nothing went wrong. */
static const char others[] = "#@in d o\n"
                             "A|alloc(o)|1\nA|w(d=1)|2\nA|w(p=64)|3\nA|fork(B)|4\n"
                             "A|acq(l)|5\nA|acq(m)|6\nA|rel(m)|7\nA|rel(l)|8\n"
                             "B|acq(m)|9\nB|acq(l)|10\nB|rel(l)|11\nB|rel(m)|12\n"
                             "B|acq(k)|13\nB|r(p=64)|14\nB|deref(p)|15\nB|r(d=1)|16\nB|rel(k)|17\n"
                             "A|acq(k)|18\nA|free(o)|19\nA|rel(k)|20\nA|w(p=0)|21\n";

static void check_finding(const fixture *f, const mr_trace *trace, const mr_prediction *prediction,
                          size_t index, const char *kind)
{
    mr_finding_info finding, wrong;
    mr_prediction_get_finding(prediction, index, &finding);
    assert_string_equal(finding.kind, kind);
    assert_int_equal(mr_check_finding(trace, "value", &finding, f->failure), MR_ACCEPTED);
    wrong = finding;
    wrong.kind = "race";
    assert_int_equal(mr_check_finding(trace, "value", &wrong, f->failure), MR_NOT_JUDGED);
    wrong = finding;
    wrong.second = MR_NO_EVENT;
    assert_int_equal(mr_check_finding(trace, "value", &wrong, f->failure), MR_NOT_JUDGED);
    wrong = finding;
    wrong.witness_count--;
    assert_int_equal(mr_check_finding(trace, "value", &wrong, f->failure), MR_REJECTED);
}

static void test_findings(void **state)
{
    const fixture *f = *state;
    static const char *const kinds[] = {"use-after-free", "deadlock", "null"};
    mr_prediction *prediction = NULL;
    mr_trace *trace = mr_trace_open_memory("others", others, strlen(others), false, f->failure);
    assert_non_null(trace);
    assert_true(mr_prediction_run(trace, f->config, &prediction, f->failure));
    assert_int_equal(mr_prediction_finding_count(prediction), 3);
    assert_int_equal(mr_prediction_finding_unknown_count(prediction), 0);
    for (size_t i = 0; i < 3; i++)
        check_finding(f, trace, prediction, i, kinds[i]);
    mr_finding_info deadlock;
    mr_prediction_get_finding(prediction, 1, &deadlock);
    assert_int_equal(deadlock.wait_count, 2);
    assert_int_equal(deadlock.waits[0], 5);
    assert_int_equal(deadlock.waits[1], 9);
    mr_prediction_free(prediction);
    mr_trace_close(trace);
}

/* With the key sees the answer is one finding, or none. */
static void test_sees(void **state)
{
    const fixture *f = *state;
    static const struct {
        const char *sees;
        size_t found;
    } cases[] = {{"13 2", 1}, {"13 20", 1}, {"13 =0", 1}, {"13 =5", 0}, {"15 1", 1}};
    mr_trace *trace = mr_trace_open_memory("others", others, strlen(others), false, f->failure);
    assert_non_null(trace);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_prediction *prediction = NULL;
        assert_true(mr_config_assign(f->config, "sees", cases[i].sees, f->failure));
        assert_true(mr_prediction_run(trace, f->config, &prediction, f->failure));
        assert_int_equal(mr_prediction_finding_count(prediction), cases[i].found);
        assert_int_equal(mr_prediction_race_count(prediction), 0);
        if (cases[i].found)
            check_finding(f, trace, prediction, 0, "sees");
        mr_prediction_free(prediction);
    }
    static const char *const bad[] = {"13", "13 2 3", "2 13", "13 1", "99 2", "13 =x", "x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mr_prediction *prediction = NULL;
        assert_true(mr_config_assign(f->config, "sees", bad[i], f->failure));
        assert_false(mr_prediction_run(trace, f->config, &prediction, f->failure));
        assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_CONFIG);
        mr_prediction_free(prediction);
    }
    mr_trace_close(trace);
}

static void test_witness_file(void **state)
{
    const fixture *f = *state;
    mr_scratch scratch;
    char path[512];
    mr_scratch_make(&scratch);
    mr_scratch_path(&scratch, "race.std", path);
    mr_prediction *prediction = predict(f);
    write_file(prediction, path, f->failure);
    assert_int_equal(mr_check_witness_file(f->trace, NULL, path, f->failure), MR_ACCEPTED);
    assert_int_equal(mr_check_witness_file(f->trace, "rf", path, NULL), MR_ACCEPTED);
    assert_int_equal(remove(path), 0);
    assert_int_equal(mr_check_witness_file(f->trace, NULL, path, f->failure), MR_NOT_JUDGED);
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_IO);
    mr_prediction_free(prediction);
    mr_scratch_remove(&scratch);
}

static void test_reports(void **state)
{
    const fixture *f = *state;
    mr_prediction *prediction = predict(f);
    char *text = NULL, *json = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_true(mr_prediction_write_text(prediction, stream, f->failure));
    fclose(stream);
    assert_non_null(strstr(text, "bank.balance"));
    stream = open_memstream(&json, &size);
    assert_true(mr_prediction_write_json(prediction, stream, f->failure));
    fclose(stream);
    assert_int_equal(json[0], '{');
    assert_non_null(strstr(json, "\"races\""));
    free(text);
    free(json);

    stream = fopen("/dev/full", "w");
    assert_non_null(stream);
    assert_false(mr_prediction_write_text(prediction, stream, f->failure));
    assert_int_equal(mr_failure_get_kind(f->failure), MR_FAILURE_IO);
    fclose(stream);
    mr_prediction_free(prediction);
}

static void *predict_often(void *argument)
{
    const fixture *f = argument;
    for (int i = 0; i < 20; i++) {
        mr_prediction *prediction = NULL;
        bool ok = mr_prediction_run(f->trace, f->config, &prediction, NULL) &&
                  mr_prediction_race_count(prediction) == 1;
        mr_prediction_free(prediction);
        if (!ok)
            return "a prediction went wrong";
    }
    return NULL;
}

/* One trace, one configuration, several predictions at once; without saturation they all use the
 * solver. */
static void test_threads(void **state)
{
    enum { THREADS = 4 };
    static const char text[] = "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\n"
                               "T2|acq(l)|4\nT2|rel(l)|5\nT2|w(x)|6\n";
    fixture f = *(fixture *)*state;
    f.trace = mr_trace_open_memory("hard", text, strlen(text), false, f.failure);
    assert_non_null(f.trace);
    assert_true(mr_config_assign(f.config, "solver.saturate_steps", "0", f.failure));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, predict_often, &f), 0);
    for (int i = 0; i < THREADS; i++) {
        void *complaint = NULL;
        assert_int_equal(pthread_join(threads[i], &complaint), 0);
        assert_null(complaint);
    }
    mr_trace_close(f.trace);
}

static void test_nothing_is_given_back(void **state)
{
    (void)state;
    mr_trace_close(NULL);
    mr_config_destroy(NULL);
    mr_failure_destroy(NULL);
    mr_prediction_free(NULL);
    assert_true(strlen(mr_version()) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_traces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_repair, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ending, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_configured_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_config, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_prediction, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_defaults_and_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checker, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_findings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_witness_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
        cmocka_unit_test(test_nothing_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
