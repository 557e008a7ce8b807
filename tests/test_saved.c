/* Outcomes in files: whoever has decided what, and when, the report is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dispatch/dispatch.h"
#include "support/generate_large.h"
#include "support/sample.h"
#include "support/saving.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARDS = 5, TINY_EVENTS = 90, LARGE_EVENTS = 4000 };

/* ---- tests ---- */

static void test_resume(void **state)
{
    (void)state;
    mr_subject s;
    char path[512];
    mr_subject_open(&s, 4, LARGE_EVENTS, "200");
    mr_saving t = {.request = {.file = mr_saving_path("resume", path)}};
    mr_saving_same(&s, &t);
    assert_int_equal(t.run.units_saved, 0);
    assert_true(t.run.units_decided >= s.units);
    uint64_t all = t.run.units_decided;
    /* It is not overwritten. */
    mr_saving_run(&s, &t);
    assert_int_equal(t.status, MR_ERR_USAGE);
    /* All of it is taken. */
    t.request.resume = true;
    mr_saving_same(&s, &t);
    assert_int_equal(t.run.units_saved, all);
    assert_int_equal(t.run.units_decided, 0);
    mr_subject_close(&s);
}

/* A run that is ended says what is missing, and the next one has to do no more than that. */
static void test_halt(void **state)
{
    (void)state;
    mr_subject s;
    char path[512];
    mr_subject_open(&s, 4, LARGE_EVENTS, "200");
    mr_saving t = {.request = {.file = mr_saving_path("halt", path), .resume = true}};
    t.halt.deadline_seconds = 1; /* long ago */
    mr_saving_run(&s, &t);
    assert_int_equal(t.status, MR_OK);
    assert_true(t.stats.incomplete && t.stats.far_missing);
    assert_int_equal(t.stats.halted, MR_HALT_TIME);
    assert_int_equal(t.stats.windows_missing, s.units - 1);
    assert_non_null(strstr(t.report, "\"ended_by\":\"time_limit\""));
    mr_saving_end(&t);
    t.halt = (mr_halt){0};
    mr_halt_ask(&t.halt, MR_HALT_SIGNAL);
    mr_halt_ask(&t.halt, MR_HALT_TIME);
    mr_saving_run(&s, &t);
    assert_int_equal(t.stats.halted, MR_HALT_SIGNAL);
    mr_saving_end(&t);
    t.halt = (mr_halt){0};
    mr_saving_same(&s, &t);
    mr_subject_close(&s);
}

/* Shards, some decided twice, in any order of the files; and with one of them missing. */
static void merge_shards(const mr_subject *s, const char *name, uint64_t *again)
{
    char paths[SHARDS][512], own[512], file[64];
    const char *parts[SHARDS];
    mr_saving t = {0};
    for (uint32_t i = 0; i < SHARDS; i++) {
        snprintf(file, sizeof file, "%s-%" PRIu32, name, i);
        parts[SHARDS - 1 - i] = mr_saving_path(file, paths[i]);
        t = (mr_saving){.request = {.file = paths[i]}, .shard = i + 1, .shards = SHARDS};
        mr_saving_run(s, &t);
        assert_int_equal(t.status, MR_OK);
        assert_false(t.stats.incomplete);
        assert_int_equal(t.stats.windows, 0); /* merged */
        uint64_t mine = 0;
        for (uint64_t unit = 0; unit < s->units; unit++)
            mine += mr_shard_of(unit, s->units, SHARDS) == i + 1;
        assert_int_equal(t.run.units_decided, mine);
        mr_saving_end(&t);
    }
    snprintf(file, sizeof file, "%s-merge", name);
    t = (mr_saving){.request = {.file = mr_saving_path(file, own),
                                .resume = true,
                                .parts = parts,
                                .part_count = SHARDS}};
    mr_saving_same(s, &t);
    assert_int_equal(t.run.units_saved, s->units);
    *again = t.run.windows_again;
    /* The merge has saved what it had to decide. */
    mr_saving_same(s, &t);
    assert_int_equal(t.run.units_decided, 0);
    assert_int_equal(t.run.windows_again, 0);
    t.request.file = NULL;
    t.request.part_count = SHARDS - 1;
    mr_saving_same(s, &t);
    assert_true(t.run.units_decided >= s->units / SHARDS);
}

static void test_shards(void **state)
{
    (void)state;
    mr_subject s;
    uint64_t again;
    mr_subject_open(&s, 4, LARGE_EVENTS, "200");
    merge_shards(&s, "shard", &again);
    mr_subject_close(&s);
}

/* A use after free, a deadlock, a null and a dangling pointer, and such that are impossible; each is a
 * unit that is saved. */
static void test_findings(void **state)
{
    (void)state;
    static const char *const text =
        "A|alloc(o=64+64)|1\nA|w(d=1)|2\nA|w(p=64)|3\nA|fork(B)|4\n"
        "A|acq(l)|5\nA|acq(m)|6\nA|rel(m)|7\nA|rel(l)|8\nB|acq(m)|9\nB|acq(l)|10\nB|rel(l)|11\n"
        "B|rel(m)|12\nB|acq(k)|13\nB|r(p=64)|14\nB|deref(p)|15\nB|r(d=1)|16\nB|rel(k)|17\n"
        "A|acq(k)|18\nA|free(o)|19\nA|rel(k)|20\nA|w(p=0)|21\n"
        "A|alloc(i=640+64)|31\nA|w(q=640)|33\nA|fork(C)|34\nC|r(q=640)|44\nC|deref(q)|45\n"
        "C|end()|46\nA|join(C)|47\nA|w(q=0)|51\nA|free(i)|49\n#@in d o\n";
    mr_subject s;
    char path[512];
    uint64_t again;
    mr_subject_take(&s, text, "8");
    assert_non_null(strstr(s.report, "\"use-after-free\""));
    assert_non_null(strstr(s.report, "\"dangling\""));
    mr_saving t = {.request = {.file = mr_saving_path("findings", path)}};
    mr_saving_same(&s, &t);
    uint64_t all = t.run.units_decided;
    assert_true(all >= s.units + 4);
    t.request.resume = true;
    mr_saving_same(&s, &t);
    assert_int_equal(t.run.units_saved, all);
    assert_int_equal(t.run.units_decided, 0);
    merge_shards(&s, "findings-shard", &again);
    mr_subject_close(&s);
}

static uint64_t bytes_of_windows(const char *path)
{
    mr_error error;
    mr_checkpoint_file file = {0};
    uint64_t bytes = 0;
    assert_int_equal(mr_checkpoint_file_read(&file, path, &error), MR_OK);
    for (size_t i = 0; i < file.count; i++)
        bytes += file.records[i].phase ? 0 : file.records[i].length;
    mr_checkpoint_file_close(&file, &error);
    return bytes;
}

/* Who decides a window without knowing the races of those before it says more of it. What was
 * asked about far races afterwards counts all the same. */
static void test_unknowing(void **state)
{
    (void)state;
    static const char *const steps[] = {"0",
                                        "3000"}; /* no budget, and one that ends many windows */
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        mr_subject s;
        char paths[2][512];
        const char *const parts[2] = {mr_saving_path("knowing", paths[0]),
                                      mr_saving_path("unknowing", paths[1])};
        mr_subject_open(&s, 4, LARGE_EVENTS, "200");
        mr_settings_set(s.config, "jobs", "1");
        mr_settings_set(s.config, "candidates.max_window_steps", steps[i]);
        mr_saving knowing = {.request = {.file = parts[0], .resume = true}};
        mr_saving_run(&s, &knowing);
        assert_int_equal(knowing.status, MR_OK);
        assert_true(knowing.run.units_decided > s.units);
        mr_saving unknowing = {.request = {.file = parts[1]}, .shard = 1, .shards = 1};
        mr_saving_run(&s, &unknowing);
        assert_int_equal(unknowing.run.units_decided, s.units);
        if (i == 0)
            assert_true(bytes_of_windows(parts[1]) > bytes_of_windows(parts[0]));
        mr_saving both = {.request = {.parts = parts, .part_count = 2}};
        mr_saving_run(&s, &both);
        assert_int_equal(both.status, MR_OK);
        assert_string_equal(both.report, knowing.report);
        assert_int_equal(both.run.units_saved, knowing.run.units_decided);
        assert_int_equal(both.run.units_decided, 0);
        mr_saving_end(&knowing);
        mr_saving_end(&unknowing);
        mr_saving_end(&both);
        remove(parts[0]);
        remove(parts[1]);
        mr_subject_close(&s);
    }
}

/* A shard does not know the races of the others and stops asking too early: the merge asks. */
static void test_again(void **state)
{
    (void)state;
    mr_subject s;
    uint64_t again = 0;
    mr_subject_open(&s, 4, LARGE_EVENTS, "200");
    free(s.report);
    mr_saving t = {0};
    mr_settings_set(s.config, "candidates.max_window_steps", "500");
    mr_saving_run(&s, &t);
    s.report = t.report;
    assert_true(t.stats.windows_stopped > 0);
    merge_shards(&s, "again", &again);
    assert_true(again > 0);
    mr_subject_close(&s);
}

/* What belongs to something else is not taken, and the line says what is different. */
static void test_foreign(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *says;
    } rows[] = {
        {"model", "rf", "was made with model: value, this run has rf"},
        {"window.size", "29", "was made with window.size: 30, this run has 29"},
        {"solver.timeout_ms", "7", "was made with solver.timeout_ms: 60000, this run has 7"},
        /* not settings of what is decided */
        {"format", "json", NULL},
        {"jobs", "1", NULL},
        {"time_limit", "1000", NULL},
        {"relation", "hb", NULL},
    };
    mr_subject s;
    char path[512];
    mr_subject_open(&s, 4, TINY_EVENTS, "30");
    mr_saving t = {.request = {.file = mr_saving_path("foreign", path), .resume = true}};
    mr_saving_same(&s, &t);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_config *config = s.config;
        s.config = mr_config_clone(config);
        mr_settings_set(s.config, rows[i].key, rows[i].value);
        mr_saving_run(&s, &t);
        assert_int_equal(t.status, rows[i].says ? MR_ERR_CONFIG : MR_OK);
        if (rows[i].says)
            assert_non_null(strstr(t.error.text, rows[i].says));
        else
            assert_int_equal(t.run.units_decided, 0);
        mr_saving_end(&t);
        mr_config_free(s.config);
        s.config = config;
    }
    mr_trace *trace = s.trace;
    s.trace = mr_sample_trace("A|w(x=1)|1\n");
    mr_saving_run(&s, &t);
    assert_int_equal(t.status, MR_ERR_CONFIG);
    assert_non_null(strstr(t.error.text, "belongs to a trace of 90 events, this one has 1"));
    mr_trace_free(s.trace);
    char *text = mr_generate_large(8, &mr_large_shapes[4], TINY_EVENTS);
    s.trace = mr_sample_trace(text);
    free(text);
    mr_saving_run(&s, &t);
    assert_int_equal(t.status, MR_ERR_CONFIG);
    assert_non_null(strstr(t.error.text, "another trace"));
    mr_trace_free(s.trace);
    s.trace = trace;
    mr_subject_close(&s);
}

/* The settings are in the file; those of another version are of no use. */
static void test_settings(void **state)
{
    (void)state;
    mr_subject s;
    char path[512];
    mr_error error;
    mr_subject_open(&s, 4, TINY_EVENTS, "30");
    mr_identity identity = {0};
    assert_int_equal(mr_identity_of(&identity, s.trace, s.config, &error), MR_OK);
    mr_checkpoint_file file = {0};
    mr_saving_path("settings", path);
    assert_int_equal(mr_checkpoint_file_start(&file, path, &identity, false, &error), MR_OK);
    assert_int_equal(mr_checkpoint_file_close(&file, &error), MR_OK);
    mr_config *config = mr_config_new();
    assert_int_equal(mr_predict_settings_of_checkpoint(path, config, &error), MR_OK);
    assert_int_equal(mr_config_int(config, "window.size"), 30);
    assert_int_equal(mr_config_int(config, "window.overlap"), 15);
    assert_string_equal(identity.settings, "version");
    identity.settings[strlen("version") + 1] ^= 1;
    assert_int_equal(remove(path), 0);
    assert_int_equal(mr_checkpoint_file_start(&file, path, &identity, false, &error), MR_OK);
    assert_int_equal(mr_checkpoint_file_close(&file, &error), MR_OK);
    assert_int_equal(mr_predict_settings_of_checkpoint(path, config, &error), MR_ERR_CONFIG);
    assert_non_null(strstr(error.text, "was written by maxrace "));
    mr_saving t = {.request = {.file = path, .resume = true}};
    mr_saving_run(&s, &t);
    assert_int_equal(t.status, MR_ERR_CONFIG);
    assert_non_null(strstr(t.error.text, "was written by maxrace "));
    mr_config_free(config);
    mr_identity_free(&identity);
    mr_subject_close(&s);
}

/* Whichever allocation fails, that is the error, and the file can be gone on with. */
static void test_no_memory(void **state)
{
    (void)state;
    mr_subject s;
    char path[512];
    unsigned failures = 0;
    mr_subject_open(&s, 4, TINY_EVENTS, "30");
    mr_settings_set(s.config, "jobs", "1");
    mr_settings_set(s.config, "solver.steps", "filter,cone,linearise"); /* Z3 has its own memory */
    free(s.report);
    mr_saving reference = {0};
    mr_saving_run(&s, &reference);
    s.report = reference.report;
    for (uint64_t n = 1; n < 4000; n += 7) {
        mr_error error = {0};
        mr_checkpoint *checkpoint = NULL;
        mr_result result = {0};
        mr_checkpoint_request request = {.file = mr_saving_path("memory", path), .resume = true};
        remove(path);
        mr_memory_fail_after(n);
        mr_status status =
            mr_predict_open_checkpoint(&request, s.trace, s.config, &checkpoint, &error);
        const mr_predict_run run = {.checkpoint = checkpoint};
        if (status == MR_OK)
            status = mr_predict(s.trace, s.config, &run, &result, &error);
        mr_memory_fail_after(0);
        mr_checkpoint_close(checkpoint, &error);
        mr_result_free(&result);
        if (status == MR_OK)
            break;
        assert_int_equal(status, MR_ERR_MEMORY);
        failures++;
        mr_saving t = {.request = request};
        mr_saving_same(&s, &t);
        assert_int_equal(t.notes, 0);
    }
    assert_true(failures > 20);
    mr_subject_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume),    cmocka_unit_test(test_halt),
        cmocka_unit_test(test_shards),    cmocka_unit_test(test_findings),
        cmocka_unit_test(test_again),     cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_settings),  cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_unknowing),
    };
    return cmocka_run_group_tests(tests, mr_saving_setup, mr_saving_teardown);
}
