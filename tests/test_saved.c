/* Outcomes in files: whatever has happened to a file, and whoever has decided what, the report is
 * the same, and nothing is reported that is not so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/predict.h"
#include "predict/saved_file.h"
#include "report/report.h"
#include "support/generate_large.h"
#include "support/sample.h"
#include "support/scratch.h"
#include "witness/checker.h"
#include "witness/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARDS = 5, TINY_EVENTS = 90, LARGE_EVENTS = 4000 };

static mr_scratch scratch;
static unsigned notes; /* lines told about damage */

static void count_note(const char *line)
{
    assert_non_null(strchr(line, ':'));
    notes++;
}

/* A trace with its settings, and what is reported without any files. */
typedef struct subject {
    mr_trace *trace;
    mr_config *config;
    char *report;
    uint64_t units;
} subject;

/* One prediction of it. */
typedef struct trial {
    mr_saved_request request;
    mr_halt halt;
    uint32_t shard, shards;
    mr_status status; /* of opening, else of predicting, else of closing */
    mr_error error;
    mr_stats stats;
    mr_run run;
    char *report; /* owned; NULL: nothing was predicted */
} trial;

static void set(mr_config *config, const char *key, const char *value)
{
    mr_error error;
    if (mr_config_set(config, key, value, NULL, 0, &error) != MR_OK)
        fail_msg("%s", error.text);
}

static char *report_of(const subject *s, const mr_result *result)
{
    char path[512];
    mr_error error;
    FILE *stream = fopen(mr_scratch_path(&scratch, "report", path), "wb");
    assert_non_null(stream);
    assert_int_equal(mr_report_json(stream, s->trace, s->config, result, &error), MR_OK);
    assert_int_equal(fclose(stream), 0);
    return mr_file_text(path);
}

/* Every race that is reported is one. */
static void check_races(const subject *s, const mr_result *result)
{
    mr_error error;
    mr_checker *checker = mr_checker_new(s->trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    for (size_t i = 0; i < result->race_count; i++) {
        mr_witness room;
        const mr_witness *open = mr_witness_open(s->trace, &result->races[i].witness, &room);
        assert_non_null(open);
        if (mr_checker_check(checker, open, &error) != MR_OK)
            fail_msg("%s", error.text);
        mr_witness_free(&room);
    }
    mr_checker_free(checker);
}

static void predict(const subject *s, trial *t)
{
    mr_saved *saved = NULL;
    mr_result result = {0};
    mr_error close_error;
    bool uses_files = t->request.file || t->request.part_count;
    t->request.note = count_note;
    t->request.shard = t->shard;
    t->request.shards = t->shards;
    t->status =
        uses_files ? mr_saved_open(&t->request, s->trace, s->config, &saved, &t->error) : MR_OK;
    if (t->status != MR_OK)
        return;
    const mr_predict_run run = {
        .halt = &t->halt, .saved = saved, .shard = t->shard, .shards = t->shards};
    t->status = mr_predict(s->trace, s->config, &run, &result, &t->error);
    mr_status closed = mr_saved_close(saved, &close_error);
    if (t->status == MR_OK && closed != MR_OK) {
        t->status = closed;
        t->error = close_error;
    }
    t->stats = result.stats;
    t->run = result.run;
    check_races(s, &result);
    t->report = report_of(s, &result);
    mr_result_free(&result);
}

static void end(trial *t)
{
    free(t->report);
    t->report = NULL;
}

static void open_subject(subject *s, uint32_t shape, uint32_t events, const char *window)
{
    char *text = mr_generate_large(7, &mr_large_shapes[shape], events);
    trial t = {0};
    assert_non_null(text);
    s->trace = mr_sample_trace(text);
    free(text);
    assert_non_null(s->trace);
    s->config = mr_config_new();
    set(s->config, "report.run", "false");
    set(s->config, "window.size", window);
    set(s->config, "jobs", "2");
    s->units = mr_predict_unit_count(s->trace, s->config);
    predict(s, &t);
    assert_int_equal(t.status, MR_OK);
    assert_false(t.stats.incomplete);
    s->report = t.report;
}

static void close_subject(subject *s)
{
    mr_trace_free(s->trace);
    mr_config_free(s->config);
    free(s->report);
}

/* Predicts and expects the one report. */
static void same_report(const subject *s, trial *t)
{
    predict(s, t);
    if (t->status != MR_OK)
        fail_msg("%s", t->error.text);
    assert_string_equal(t->report, s->report);
    end(t);
}

static int setup(void **state)
{
    (void)state;
    /* Thousands of files, each brought to the disk: in memory, where there is such a folder. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
    mr_scratch_make(&scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_scratch_remove(&scratch);
    return 0;
}

/* ---- files as bytes ---- */

typedef struct blob {
    uint8_t *bytes;
    size_t count;
} blob;

static blob read_blob(const char *path)
{
    FILE *file = fopen(path, "rb");
    blob b = {.bytes = malloc(1 << 24)};
    assert_true(file && b.bytes);
    b.count = fread(b.bytes, 1, 1 << 24, file);
    fclose(file);
    return b;
}

static void write_blob(const char *path, const uint8_t *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* ---- tests ---- */

static void test_resume(void **state)
{
    (void)state;
    subject s;
    char path[512];
    open_subject(&s, 4, LARGE_EVENTS, "200");
    trial t = {.request = {.file = mr_scratch_path(&scratch, "resume", path)}};
    same_report(&s, &t);
    assert_int_equal(t.run.units_saved, 0);
    assert_true(t.run.units_decided >= s.units);
    uint64_t all = t.run.units_decided;
    /* It is not overwritten. */
    predict(&s, &t);
    assert_int_equal(t.status, MR_ERR_USAGE);
    /* All of it is taken. */
    t.request.resume = true;
    same_report(&s, &t);
    assert_int_equal(t.run.units_saved, all);
    assert_int_equal(t.run.units_decided, 0);
    close_subject(&s);
}

/* A run that is ended says what is missing, and the next one has to do no more than that. */
static void test_halt(void **state)
{
    (void)state;
    subject s;
    char path[512];
    open_subject(&s, 4, LARGE_EVENTS, "200");
    trial t = {.request = {.file = mr_scratch_path(&scratch, "halt", path), .resume = true}};
    t.halt.deadline_seconds = 1; /* long ago */
    predict(&s, &t);
    assert_int_equal(t.status, MR_OK);
    assert_true(t.stats.incomplete && t.stats.far_missing);
    assert_int_equal(t.stats.halted, MR_HALT_TIME);
    assert_int_equal(t.stats.windows_missing, s.units - 1);
    assert_non_null(strstr(t.report, "\"ended_by\":\"time_limit\""));
    end(&t);
    t.halt = (mr_halt){0};
    mr_halt_ask(&t.halt, MR_HALT_SIGNAL);
    mr_halt_ask(&t.halt, MR_HALT_TIME);
    predict(&s, &t);
    assert_int_equal(t.stats.halted, MR_HALT_SIGNAL);
    end(&t);
    t.halt = (mr_halt){0};
    same_report(&s, &t);
    close_subject(&s);
}

/* Shards, some decided twice, in any order of the files; and with one of them missing. */
static void merge_shards(const subject *s, const char *name, uint64_t *again)
{
    char paths[SHARDS][512], own[512], file[64];
    const char *parts[SHARDS];
    trial t = {0};
    for (uint32_t i = 0; i < SHARDS; i++) {
        snprintf(file, sizeof file, "%s-%" PRIu32, name, i);
        parts[SHARDS - 1 - i] = mr_scratch_path(&scratch, file, paths[i]);
        t = (trial){.request = {.file = paths[i]}, .shard = i + 1, .shards = SHARDS};
        predict(s, &t);
        assert_int_equal(t.status, MR_OK);
        assert_false(t.stats.incomplete);
        assert_int_equal(t.run.units_decided, (s->units + SHARDS - 1 - i) / SHARDS);
        end(&t);
    }
    snprintf(file, sizeof file, "%s-merge", name);
    t = (trial){.request = {.file = mr_scratch_path(&scratch, file, own),
                            .resume = true,
                            .parts = parts,
                            .part_count = SHARDS}};
    same_report(s, &t);
    assert_int_equal(t.run.units_saved, s->units);
    *again = t.run.windows_again;
    /* The merge has saved what it had to decide. */
    same_report(s, &t);
    assert_int_equal(t.run.units_decided, 0);
    assert_int_equal(t.run.windows_again, 0);
    t.request.file = NULL;
    t.request.part_count = SHARDS - 1;
    same_report(s, &t);
    assert_true(t.run.units_decided >= s->units / SHARDS);
}

static void test_shards(void **state)
{
    (void)state;
    subject s;
    uint64_t again;
    open_subject(&s, 4, LARGE_EVENTS, "200");
    merge_shards(&s, "shard", &again);
    close_subject(&s);
}

/* A shard does not know the races of the others and stops asking too early: the merge asks. */
static void test_again(void **state)
{
    (void)state;
    subject s;
    uint64_t again = 0;
    open_subject(&s, 4, LARGE_EVENTS, "200");
    free(s.report);
    trial t = {0};
    set(s.config, "candidates.max_window_steps", "3000");
    predict(&s, &t);
    s.report = t.report;
    assert_true(t.stats.windows_stopped > 0);
    merge_shards(&s, "again", &again);
    assert_true(again > 0);
    close_subject(&s);
}

/* A run can be killed at any byte. */
static void test_prefixes(void **state)
{
    (void)state;
    subject s;
    char path[512];
    open_subject(&s, 4, TINY_EVENTS, "30");
    trial t = {.request = {.file = mr_scratch_path(&scratch, "prefix", path), .resume = true}};
    same_report(&s, &t);
    blob whole = read_blob(path);
    uint64_t taken = 0;
    for (size_t length = 0; length < whole.count; length++) {
        write_blob(path, whole.bytes, length);
        same_report(&s, &t);
        assert_true(t.run.units_saved >= taken); /* what was whole is not lost */
        taken = t.run.units_saved;
        assert_true(t.run.units_decided > 0);
        notes = 0;
        same_report(&s, &t);
        assert_int_equal(t.run.units_decided, 0);
        assert_int_equal(notes, 0);
    }
    assert_true(taken >= s.units - 1);
    free(whole.bytes);
    close_subject(&s);
}

/* Wherever a bit is wrong: an error, or the same report, and all but one or two units are taken. */
static void test_flipped(void **state)
{
    (void)state;
    subject s;
    char path[512];
    unsigned refused = 0, healed = 0;
    open_subject(&s, 4, TINY_EVENTS, "30");
    trial t = {.request = {.file = mr_scratch_path(&scratch, "flip", path), .resume = true}};
    same_report(&s, &t);
    const uint64_t all = t.run.units_decided;
    blob whole = read_blob(path);
    for (size_t at = 0; at < whole.count; at++) {
        whole.bytes[at] ^= (uint8_t)(1u << at % 8);
        write_blob(path, whole.bytes, whole.count);
        whole.bytes[at] ^= (uint8_t)(1u << at % 8);
        notes = 0;
        predict(&s, &t);
        if (t.status != MR_OK) {
            assert_true(t.status == MR_ERR_IO || t.status == MR_ERR_CONFIG);
            refused++;
            continue;
        }
        assert_string_equal(t.report, s.report);
        end(&t);
        assert_int_equal(notes, 1);
        assert_int_equal(t.run.units_saved, all - 1);
        healed++;
    }
    assert_true(refused > 64 && healed > 64);
    free(whole.bytes);
    close_subject(&s);
}

static bool is_window(const subject *s, const mr_saved_record *record)
{
    return record->phase == 0 && record->unit + 1 < s->units;
}

/* Bodies that somebody has changed, with the right checksums: no crash and no false race. Those of
 * windows: what the search for sync-preserving races says is looked at again when it is confirmed.
 */
static void test_forged(void **state)
{
    (void)state;
    subject s;
    char path[512], forged_path[512];
    unsigned refused = 0;
    mr_error error;
    open_subject(&s, 4, TINY_EVENTS, "30");
    trial t = {.request = {.file = mr_scratch_path(&scratch, "true", path)}};
    same_report(&s, &t);
    mr_saved_file from = {0};
    assert_int_equal(mr_saved_file_read(&from, path, &error), MR_OK);
    mr_scratch_path(&scratch, "forged", forged_path);
    for (size_t i = 0; i < from.count; i++)
        for (uint64_t at = 0; at < from.records[i].length && is_window(&s, &from.records[i]);
             at++) {
            uint8_t body[4096];
            mr_saved_record record = from.records[i];
            mr_saved_file to = {0};
            assert_true(record.length <= sizeof body);
            memcpy(body, record.body, record.length);
            body[at] = (uint8_t)(body[at] + 1 + at % 255);
            record.body = body;
            remove(forged_path);
            assert_int_equal(mr_saved_file_start(&to, forged_path, &from.identity, false, &error),
                             MR_OK);
            assert_int_equal(mr_saved_file_append(&to, &record, &error), MR_OK);
            assert_int_equal(mr_saved_file_close(&to, &error), MR_OK);
            notes = 0;
            t = (trial){.request = {.file = forged_path, .resume = true}};
            predict(&s, &t); /* checks the races */
            assert_int_equal(t.status, MR_OK);
            if (notes)
                assert_string_equal(t.report, s.report);
            refused += notes;
            end(&t);
        }
    assert_true(refused > 100);
    mr_saved_file_close(&from, &error);
    close_subject(&s);
}

/* A saved outcome is one of this unit of this phase, and of nothing else. */
static void test_phases(void **state)
{
    (void)state;
    static const mr_saved_phase phases[] = {{1, 3, 5}, {0, 3, 5}, {1, 4, 5}, {1, 3, 6}};
    mr_error error;
    char path[512];
    subject s = {.trace = mr_sample_trace("A|w(x=1)|1\n"), .config = mr_config_new()};
    mr_saved_request request = {.file = mr_scratch_path(&scratch, "phases", path)};
    for (int round = 0; round < 2; round++) {
        mr_saved *saved;
        mr_outcome *outcome = mr_outcome_new(2), *found = NULL;
        request.resume = round > 0;
        assert_int_equal(mr_saved_open(&request, s.trace, s.config, &saved, &error), MR_OK);
        for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++)
            assert_int_equal(mr_saved_has(saved, &phases[i], 2), round > 0 && i == 0);
        assert_false(mr_saved_has(saved, &phases[0], 1));
        assert_int_equal(mr_saved_get(saved, &phases[0], 2, &found, &error), MR_OK);
        assert_int_equal(found != NULL, round > 0);
        if (found)
            assert_int_equal(found->dropped_by_cone, 7);
        outcome->dropped_by_cone = 7;
        assert_int_equal(mr_saved_put(saved, &phases[0], outcome, &error), MR_OK);
        mr_outcome_free(outcome);
        mr_outcome_free(found);
        assert_int_equal(mr_saved_close(saved, &error), MR_OK);
    }
    close_subject(&s);
}

/* A race that is none, in an outcome in which nothing else is wrong. */
static void test_false_race(void **state)
{
    (void)state;
    static const char text[] = "A|w(x=1)|1\nA|fork(B)|2\nB|w(x=2)|3\n";
    mr_error error;
    char path[512];
    subject s = {.trace = mr_sample_trace(text), .config = mr_config_new()};
    s.units = mr_predict_unit_count(s.trace, s.config);
    set(s.config, "report.run", "false");
    mr_saved_request request = {.file = mr_scratch_path(&scratch, "false", path)};
    mr_saved *saved;
    assert_int_equal(mr_saved_open(&request, s.trace, s.config, &saved, &error), MR_OK);
    mr_outcome *outcome = mr_outcome_new(0);
    mr_record *record = mr_outcome_add(outcome);
    uint32_t events[] = {1};
    *record = (mr_record){.key_1 = s.trace->location[0],
                          .key_2 = s.trace->location[2],
                          .second = 2,
                          .asked = true,
                          .has_race = true,
                          .race = {.witness = {.second = 2,
                                               .window_end = 3,
                                               .model = MR_MODEL_VALUE,
                                               .events = events,
                                               .event_count = 1},
                                   .confirmed_by = MR_STEP_SATURATE}};
    const mr_saved_phase phase = {.units = s.units};
    assert_int_equal(mr_saved_put(saved, &phase, outcome, &error), MR_OK);
    record->has_race = false;
    mr_outcome_free(outcome);
    assert_int_equal(mr_saved_close(saved, &error), MR_OK);
    notes = 0;
    trial t = {.request = {.file = path, .resume = true}};
    predict(&s, &t);
    assert_int_equal(t.status, MR_OK);
    assert_int_equal(notes, 1);
    assert_non_null(strstr(t.report, "\"races\":[]"));
    end(&t);
    close_subject(&s);
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
        {"solver.timeout_ms", "7", "was made with solver.timeout_ms: 1000, this run has 7"},
        /* not settings of what is decided */
        {"format", "json", NULL},
        {"jobs", "1", NULL},
        {"time_limit", "1000", NULL},
        {"relation", "hb", NULL},
    };
    subject s;
    char path[512];
    open_subject(&s, 4, TINY_EVENTS, "30");
    trial t = {.request = {.file = mr_scratch_path(&scratch, "foreign", path), .resume = true}};
    same_report(&s, &t);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_config *config = s.config;
        s.config = mr_config_clone(config);
        set(s.config, rows[i].key, rows[i].value);
        predict(&s, &t);
        assert_int_equal(t.status, rows[i].says ? MR_ERR_CONFIG : MR_OK);
        if (rows[i].says)
            assert_non_null(strstr(t.error.text, rows[i].says));
        else
            assert_int_equal(t.run.units_decided, 0);
        end(&t);
        mr_config_free(s.config);
        s.config = config;
    }
    mr_trace *trace = s.trace;
    s.trace = mr_sample_trace("A|w(x=1)|1\n");
    predict(&s, &t);
    assert_int_equal(t.status, MR_ERR_CONFIG);
    assert_non_null(strstr(t.error.text, "belongs to a trace of 90 events, this one has 1"));
    mr_trace_free(s.trace);
    char *text = mr_generate_large(8, &mr_large_shapes[4], TINY_EVENTS);
    s.trace = mr_sample_trace(text);
    free(text);
    predict(&s, &t);
    assert_int_equal(t.status, MR_ERR_CONFIG);
    assert_non_null(strstr(t.error.text, "another trace"));
    mr_trace_free(s.trace);
    s.trace = trace;
    close_subject(&s);
}

/* The settings are in the file; those of another version are of no use. */
static void test_settings(void **state)
{
    (void)state;
    subject s;
    char path[512];
    mr_error error;
    open_subject(&s, 4, TINY_EVENTS, "30");
    mr_saved_identity identity = {0};
    assert_int_equal(mr_saved_identity_of(&identity, s.trace, s.config, &error), MR_OK);
    mr_saved_file file = {0};
    mr_scratch_path(&scratch, "settings", path);
    assert_int_equal(mr_saved_file_start(&file, path, &identity, false, &error), MR_OK);
    assert_int_equal(mr_saved_file_close(&file, &error), MR_OK);
    mr_config *config = mr_config_new();
    assert_int_equal(mr_saved_settings(path, config, &error), MR_OK);
    assert_int_equal(mr_config_int(config, "window.size"), 30);
    assert_int_equal(mr_config_int(config, "window.overlap"), 15);
    assert_string_equal(identity.settings, "version");
    identity.settings[strlen("version") + 1] ^= 1;
    assert_int_equal(remove(path), 0);
    assert_int_equal(mr_saved_file_start(&file, path, &identity, false, &error), MR_OK);
    assert_int_equal(mr_saved_file_close(&file, &error), MR_OK);
    assert_int_equal(mr_saved_settings(path, config, &error), MR_ERR_CONFIG);
    assert_non_null(strstr(error.text, "was written by maxrace "));
    trial t = {.request = {.file = path, .resume = true}};
    predict(&s, &t);
    assert_int_equal(t.status, MR_ERR_CONFIG);
    assert_non_null(strstr(t.error.text, "was written by maxrace "));
    mr_config_free(config);
    mr_saved_identity_free(&identity);
    close_subject(&s);
}

/* Two runs never write the same file, and nobody reads what is being written. */
static void test_locked(void **state)
{
    (void)state;
    subject s;
    char path[512];
    mr_error error;
    mr_saved *saved;
    open_subject(&s, 4, TINY_EVENTS, "30");
    mr_saved_request request = {.file = mr_scratch_path(&scratch, "locked", path), .resume = true};
    assert_int_equal(mr_saved_open(&request, s.trace, s.config, &saved, &error), MR_OK);
    trial t = {.request = request};
    predict(&s, &t);
    assert_int_equal(t.status, MR_ERR_IO);
    assert_non_null(strstr(t.error.text, "another run uses this checkpoint"));
    const char *parts[] = {path};
    t = (trial){.request = {.parts = parts, .part_count = 1}};
    predict(&s, &t);
    assert_int_equal(t.status, MR_ERR_IO);
    assert_int_equal(mr_saved_close(saved, &error), MR_OK);
    same_report(&s, &t);
    close_subject(&s);
}

/* Whichever allocation fails, that is the error, and the file can be gone on with. */
static void test_no_memory(void **state)
{
    (void)state;
    subject s;
    char path[512];
    unsigned failures = 0;
    open_subject(&s, 4, TINY_EVENTS, "30");
    set(s.config, "jobs", "1");
    set(s.config, "solver.steps", "filter,cone,linearise"); /* Z3 has its own memory */
    for (uint64_t n = 1; n < 4000; n += 7) {
        mr_error error = {0};
        mr_saved *saved = NULL;
        mr_result result = {0};
        mr_saved_request request = {
            .file = mr_scratch_path(&scratch, "memory", path), .resume = true, .note = count_note};
        remove(path);
        mr_memory_fail_after(n);
        mr_status status = mr_saved_open(&request, s.trace, s.config, &saved, &error);
        const mr_predict_run run = {.saved = saved};
        if (status == MR_OK)
            status = mr_predict(s.trace, s.config, &run, &result, &error);
        mr_memory_fail_after(0);
        mr_saved_close(saved, &error);
        mr_result_free(&result);
        if (status == MR_OK)
            break;
        assert_int_equal(status, MR_ERR_MEMORY);
        failures++;
        notes = 0;
        trial t = {.request = request};
        predict(&s, &t);
        assert_int_equal(t.status, MR_OK);
        assert_int_equal(notes, 0);
        end(&t);
    }
    assert_true(failures > 20);
    close_subject(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume),     cmocka_unit_test(test_halt),
        cmocka_unit_test(test_shards),     cmocka_unit_test(test_again),
        cmocka_unit_test(test_prefixes),   cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_forged),     cmocka_unit_test(test_phases),
        cmocka_unit_test(test_false_race), cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_settings),   cmocka_unit_test(test_locked),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
