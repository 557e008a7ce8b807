/* Records that were changed under right checksums: no crash, and no false race, since the checker
 * judges every race again. What else such a record says is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/outcome.h"
#include "support/generate_large.h"
#include "support/length.h"
#include "support/sample.h"
#include "support/saving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- changing ---- */

/* A trace with a file of all that a run of it has found. */
typedef struct original {
    mr_subject subject;
    mr_checkpoint_file file;
    mr_stats stats;
    uint64_t units; /* of all phases */
} original;

/* `settings`: keys and values, ended by NULL. */
static void open_original(original *o, uint32_t shape, uint32_t events, const char *window,
                          const char *const *settings)
{
    char path[512];
    mr_error error;
    mr_subject_open(&o->subject, shape, events, window);
    for (; *settings; settings += 2)
        mr_settings_set(o->subject.config, settings[0], settings[1]);
    mr_saving t = {.request = {.file = mr_saving_path("original", path)}};
    remove(path);
    mr_saving_run(&o->subject, &t);
    assert_int_equal(t.status, MR_OK);
    free(o->subject.report);
    o->subject.report = t.report;
    o->stats = t.stats;
    o->units = t.run.units_decided;
    o->file = (mr_checkpoint_file){0};
    assert_int_equal(mr_checkpoint_file_read(&o->file, path, &error), MR_OK);
    assert_int_equal(o->file.count, o->units);
}

static void close_original(original *o)
{
    mr_error error;
    mr_checkpoint_file_close(&o->file, &error);
    mr_subject_close(&o->subject);
}

/* Predicts with all records of the file, but for one the body of which is another. */
static mr_saving predict_instead(const original *o, size_t number, const uint8_t *body,
                                 uint64_t length)
{
    char path[512];
    mr_error error;
    mr_checkpoint_file to = {0};
    mr_saving_path("changed", path);
    remove(path);
    assert_int_equal(mr_checkpoint_file_start(&to, path, &o->file.identity, false, &error), MR_OK);
    for (size_t i = 0; i < o->file.count; i++) {
        mr_checkpoint_record record = o->file.records[i];
        if (i == number) {
            record.body = body;
            record.length = length;
        }
        assert_int_equal(mr_checkpoint_file_append(&to, &record, &error), MR_OK);
    }
    assert_int_equal(mr_checkpoint_file_close(&to, &error), MR_OK);
    mr_saving t = {.request = {.file = path, .resume = true}};
    mr_saving_run(&o->subject, &t); /* checks the races */
    assert_int_equal(t.status, MR_OK);
    return t;
}

static bool is_window(const original *o, const mr_checkpoint_record *record)
{
    return record->phase == 0 && record->unit + 1 < o->subject.units;
}

/* ---- the truth ---- */

/* What a run has found is not refused, whatever it was asked. */
static void test_true(void **state)
{
    (void)state;
    static const char *const settings[][7] = {
        {"model", "rf"},
        {"model", "branch"},
        {"candidates.report", "event"},
        {"candidates.far", "hb"},
        {"candidates.far", "wcp", "model", "branch"},
        {"candidates.far", "shb"},
        {"candidates.prefilter", "wcp"},
        {"solver.strategy", "eager", "solver.rlimit", "20000"},
        {"window.far_size", "50"},
        {"window.far_work", "700", "solver.steps", "filter,cone,saturate"},
        {"candidates.max_window_steps", "500", "candidates.max_unanswered", "1"},
        {"solver.steps", "filter,cone,saturate", "solver.saturate_steps", "40", "witness.minimise",
         "false"},
    };
    const uint32_t step = mr_length_full() ? 1 : 2;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (uint32_t shape = (uint32_t)(i % step); shape < mr_large_shape_count; shape += step) {
            original o;
            open_original(&o, shape, 120, "20", settings[i]);
            char path[512];
            mr_error error;
            mr_checkpoint_file_close(&o.file, &error); /* it is locked until then */
            mr_saving t = {.request = {.file = mr_saving_path("original", path), .resume = true}};
            mr_saving_run(&o.subject, &t);
            assert_int_equal(t.status, MR_OK);
            assert_int_equal(t.notes, 0);
            assert_int_equal(t.run.units_saved, o.units);
            assert_int_equal(t.run.units_decided, 0);
            assert_string_equal(t.report, o.subject.report);
            mr_saving_end(&t);
            close_original(&o);
        }
}

/* ---- every byte ---- */

/* How many of the changed records were refused, and how many were used. */
typedef struct tally {
    unsigned refused, used;
} tally;

/* Of so many bytes, one is changed. */
static uint64_t step_of_bytes(void)
{
    return mr_length("SAVED_CHANGED_STEP", 8, 2);
}

static void change_bytes(const original *o, size_t number, tally *sum)
{
    const mr_checkpoint_record *record = &o->file.records[number];
    const uint64_t step = step_of_bytes();
    uint8_t body[4096];
    assert_true(record->length <= sizeof body);
    for (uint64_t at = number % step; at < record->length; at += step) {
        memcpy(body, record->body, record->length);
        body[at] = (uint8_t)(record->body[at] + 1 + at % 255);
        mr_saving t = predict_instead(o, number, body, record->length);
        sum->refused += t.notes > 0;
        sum->used += !t.notes;
        if (t.notes)
            assert_string_equal(t.report, o->subject.report);
        mr_saving_end(&t);
    }
}

static void test_windows(void **state)
{
    (void)state;
    static const char *const settings[] = {NULL};
    original o;
    tally sum = {0};
    const uint64_t step = step_of_bytes();
    open_original(&o, 4, 90, "30", settings);
    for (size_t i = 0; i < o.file.count; i++)
        if (is_window(&o, &o.file.records[i]))
            change_bytes(&o, i, &sum);
    /* A change of a time is used, and times have more or fewer bytes from run to run. */
    assert_true(sum.refused > 80 / step && sum.used > 40 / step);
    close_original(&o);
}

/* Far races in all their phases: those that need no formula, those that do, and such as have no
 * answer. */
static const char *const answered[] = {"model", "value", NULL};
static const char *const unanswered[] = {"solver.steps",
                                         "filter,cone,saturate",
                                         "solver.saturate_steps",
                                         "60",
                                         "candidates.max_unanswered",
                                         "3",
                                         NULL};

static const struct {
    uint32_t shape;
    const char *const *settings;
} far_subjects[] = {{1, answered}, {2, answered}, {2, unanswered}, {7, unanswered}};

enum { FAR_SUBJECTS = sizeof far_subjects / sizeof *far_subjects, FAR_EVENTS = 150 };

static void open_far(original *o, size_t number)
{
    open_original(o, far_subjects[number].shape, FAR_EVENTS, "20", far_subjects[number].settings);
}

static void test_far(void **state)
{
    (void)state;
    const uint64_t step = step_of_bytes();
    for (size_t s = 0; s < FAR_SUBJECTS; s++) {
        original o;
        tally sum = {0};
        open_far(&o, s);
        for (size_t i = 0; i < o.file.count; i++)
            if (!is_window(&o, &o.file.records[i]))
                change_bytes(&o, i, &sum);
        assert_true(sum.refused > 20 / step && sum.used > 20 / step);
        close_original(&o);
    }
}

/* ---- whole outcomes ---- */

/* The outcome of a record. */
static mr_outcome *read_outcome(const original *o, size_t number)
{
    const mr_checkpoint_record *record = &o->file.records[number];
    bool damaged;
    mr_outcome *outcome =
        mr_outcome_read(o->subject.trace, record->body, (size_t)record->length, &damaged);
    assert_non_null(outcome);
    return outcome;
}

/* As the body of a record; frees it. */
static mr_bytes bytes_of(const original *o, mr_outcome *outcome)
{
    mr_bytes bytes = {0};
    assert_true(mr_outcome_write(o->subject.trace, outcome, &bytes));
    mr_outcome_free(outcome);
    return bytes;
}

/* As if the first question of an outcome had been refused for want of memory. NULL: it has been
 * answered, or says itself why its static race is unknown. */
static mr_outcome *refuse_question(mr_outcome *outcome)
{
    mr_pair_verdict *verdict = outcome->verdicts;
    if (!outcome->count || !verdict->unanswered || verdict->has_unknown) {
        mr_outcome_free(outcome);
        return NULL;
    }
    assert_int_equal(verdict->unknown[MR_UNKNOWN_STEPS], 1);
    verdict->unknown[MR_UNKNOWN_STEPS] = 0;
    verdict->unknown[MR_UNKNOWN_MEMORY] = 1;
    return outcome;
}

/* A question that is refused for want of memory costs as much as one that is too hard. Where the
 * budget of its static race ends by that, the reason is not the budget. */
static void test_refused_for_memory(void **state)
{
    (void)state;
    static const uint32_t shapes[] = {2, 4, 7};
    static const char *const settings[] = {"solver.steps",
                                           "filter,cone,saturate",
                                           "solver.saturate_steps",
                                           "60",
                                           "window.far_race_work",
                                           "300",
                                           NULL};
    unsigned refused = 0;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        original o;
        open_original(&o, shapes[k], FAR_EVENTS, "20", settings);
        const uint64_t *before = o.stats.unknown;
        assert_true(before[MR_UNKNOWN_BUDGET] > 0 && !before[MR_UNKNOWN_MEMORY]);
        for (size_t i = 0; i < o.file.count; i++) {
            mr_outcome *outcome =
                is_window(&o, &o.file.records[i]) ? NULL : refuse_question(read_outcome(&o, i));
            if (!outcome)
                continue;
            mr_bytes bytes = bytes_of(&o, outcome);
            mr_saving t = predict_instead(&o, i, bytes.items, bytes.count);
            mr_bytes_free(&bytes);
            assert_int_equal(t.notes, 0);
            assert_int_equal(t.stats.unknown[MR_UNKNOWN_MEMORY], 1);
            assert_int_equal(t.stats.unknown[MR_UNKNOWN_BUDGET], before[MR_UNKNOWN_BUDGET] - 1);
            assert_non_null(strstr(t.report, "\"reason\":\"memory\""));
            mr_saving_end(&t);
            refused++;
        }
        close_original(&o);
    }
    assert_true(refused > 3);
}

/* ---- one record ---- */

/* Two accesses in order, and others with which somebody may take them for a race. */
static const char one_text[] = "A|w(x=1)|1\n"
                               "A|acq(l)|1\n"
                               "A|rel(l)|1\n"
                               "A|r(x=1)|3\n"
                               "A|fork(B)|2\n"
                               "B|w(x=2)|3\n"
                               "B|r(x=2)|1\n";

/* Of the first window: a record of these events, as if they were accesses of locations 1 and 3. */
static mr_outcome *outcome_of(const mr_trace *trace, uint32_t first, uint32_t second, bool race)
{
    static uint32_t events[] = {1, 2, 3, 4};
    mr_outcome *outcome = mr_outcome_new(0);
    mr_pair_verdict *verdict = mr_outcome_add(outcome);
    assert_non_null(verdict);
    *verdict = (mr_pair_verdict){.key_1 = trace->location[0],
                                 .key_2 = trace->location[5],
                                 .first = first,
                                 .second = second,
                                 .asked = true,
                                 .has_race = race,
                                 .has_unknown = !race};
    if (race)
        verdict->race = (mr_race){.witness = {.first = first,
                                              .second = second,
                                              .window_end = trace->event_count,
                                              .model = MR_MODEL_VALUE,
                                              .events = events,
                                              .event_count = 4},
                                  .confirmed_by = MR_STEP_SATURATE};
    else
        verdict->open =
            (mr_unknown){.first = first, .second = second, .window_end = trace->event_count};
    return outcome;
}

/* A verdict that is not true, in an outcome in which nothing else is wrong. */
static void test_false_verdicts(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint32_t first, second;
        bool race;
    } rows[] = {
        {"a race of two that are ordered", 0, 5, true},
        {"an unknown of a lock", 1, 5, false},
        {"an unknown of one thread", 0, 3, false},
        {"an unknown of two reads", 3, 6, false},
    };
    mr_error error;
    char path[512];
    mr_subject s = {.trace = mr_sample_trace(one_text), .config = mr_config_new()};
    mr_settings_set(s.config, "report.run", "false");
    s.units = mr_predict_unit_count(s.trace, s.config);
    const mr_store_phase phase = {.units = s.units};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_checkpoint_request request = {.file = mr_saving_path(rows[i].what, path)};
        mr_checkpoint *checkpoint;
        mr_outcome *outcome = outcome_of(s.trace, rows[i].first, rows[i].second, rows[i].race);
        mr_bytes bytes = {0};
        assert_true(mr_outcome_write(s.trace, outcome, &bytes));
        assert_int_equal(
            mr_predict_open_checkpoint(&request, s.trace, s.config, &checkpoint, &error), MR_OK);
        assert_int_equal(mr_checkpoint_put(checkpoint, &phase, 0, bytes.items, bytes.count, &error),
                         MR_OK);
        assert_int_equal(mr_checkpoint_close(checkpoint, &error), MR_OK);
        mr_bytes_free(&bytes);
        outcome->verdicts[0].has_race = false; /* its events are not its own */
        mr_outcome_free(outcome);
        mr_saving t = {.request = {.file = path, .resume = true}};
        mr_saving_run(&s, &t);
        assert_int_equal(t.status, MR_OK);
        if (t.notes != 1)
            fail_msg("%s is taken", rows[i].what);
        assert_non_null(strstr(t.report, "\"races\":[]"));
        assert_non_null(strstr(t.report, "\"unknown\":[]"));
        mr_saving_end(&t);
    }
    mr_subject_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_refused_for_memory),
        cmocka_unit_test(test_false_verdicts),
    };
    return cmocka_run_group_tests(tests, mr_saving_setup, mr_saving_teardown);
}
