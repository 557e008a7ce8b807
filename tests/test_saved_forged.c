/* Files of outcomes that somebody has changed, with the right checksums: no crash, and no false
 * race. What is refused is told and decided again, with the same report; what is not refused is
 * used by nobody, or could be so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/generate_large.h"
#include "support/sample.h"
#include "support/saving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- forging ---- */

/* A trace with a file of all that a run of it has found. */
typedef struct original {
    mr_subject subject;
    mr_saved_file file;
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
    o->file = (mr_saved_file){0};
    assert_int_equal(mr_saved_file_read(&o->file, path, &error), MR_OK);
    assert_int_equal(o->file.count, o->units);
}

static void close_original(original *o)
{
    mr_error error;
    mr_saved_file_close(&o->file, &error);
    mr_subject_close(&o->subject);
}

/* What became of forged records. */
typedef struct tally {
    unsigned refused, used, without_race;
} tally;

/* Predicts with all records of the file, but for one the body of which is another. */
static mr_saving predict(const original *o, size_t number, const uint8_t *body, uint64_t length)
{
    char path[512];
    mr_error error;
    mr_saved_file to = {0};
    mr_saving_path("forged", path);
    remove(path);
    assert_int_equal(mr_saved_file_start(&to, path, &o->file.identity, false, &error), MR_OK);
    for (size_t i = 0; i < o->file.count; i++) {
        mr_saved_record record = o->file.records[i];
        if (i == number) {
            record.body = body;
            record.length = length;
        }
        assert_int_equal(mr_saved_file_append(&to, &record, &error), MR_OK);
    }
    assert_int_equal(mr_saved_file_close(&to, &error), MR_OK);
    mr_saving t = {.request = {.file = path, .resume = true}};
    mr_saving_run(&o->subject, &t); /* checks the races */
    assert_int_equal(t.status, MR_OK);
    return t;
}

/* The same, and looks at what is reported. */
static void predict_forged(const original *o, size_t number, const uint8_t *body, uint64_t length,
                           tally *sum)
{
    mr_saving t = predict(o, number, body, length);
    assert_false(t.stats.incomplete);
    if (t.notes)
        assert_string_equal(t.report, o->subject.report);
    assert_int_equal(t.stats.static_races, t.races); /* none is told twice */
    assert_in_range(t.races, 0, o->stats.static_races);
    sum->refused += t.notes;
    sum->used += !t.notes;
    sum->without_race += t.races < o->stats.static_races;
    mr_saving_end(&t);
}

static bool is_window(const original *o, const mr_saved_record *record)
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
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (uint32_t shape = 0; shape < mr_large_shape_count; shape++) {
            original o;
            open_original(&o, shape, 120, "20", settings[i]);
            char path[512];
            mr_error error;
            mr_saved_file_close(&o.file, &error); /* it is locked until then */
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

static void change_bytes(const original *o, size_t number, tally *sum)
{
    const mr_saved_record *record = &o->file.records[number];
    uint8_t body[4096];
    assert_true(record->length <= sizeof body);
    for (uint64_t at = 0; at < record->length; at++) {
        memcpy(body, record->body, record->length);
        body[at] = (uint8_t)(record->body[at] + 1 + at % 255);
        predict_forged(o, number, body, record->length, sum);
    }
}

static void test_windows(void **state)
{
    (void)state;
    static const char *const settings[] = {NULL};
    original o;
    tally sum = {0};
    open_original(&o, 4, 90, "30", settings);
    for (size_t i = 0; i < o.file.count; i++)
        if (is_window(&o, &o.file.records[i]))
            change_bytes(&o, i, &sum);
    assert_true(sum.refused > 100);
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
    for (size_t s = 0; s < FAR_SUBJECTS; s++) {
        original o;
        tally sum = {0};
        open_far(&o, s);
        for (size_t i = 0; i < o.file.count; i++)
            if (!is_window(&o, &o.file.records[i]))
                change_bytes(&o, i, &sum);
        assert_true(sum.refused > 5 * sum.used && !sum.without_race);
        close_original(&o);
    }
}

/* ---- whole outcomes ---- */

/* The outcome of a record. */
static mr_outcome *read_outcome(const original *o, size_t number)
{
    const mr_saved_record *record = &o->file.records[number];
    bool damaged;
    mr_outcome *outcome =
        mr_outcome_read(o->subject.trace, record->body, (size_t)record->length, &damaged);
    assert_non_null(outcome);
    return outcome;
}

/* As the body of a record; frees it. */
static mr_bytes bytes_of(const original *o, size_t number, mr_outcome *outcome)
{
    mr_bytes bytes = {0};
    outcome->unit = o->file.records[number].unit;
    assert_true(mr_outcome_write(o->subject.trace, outcome, &bytes));
    mr_outcome_free(outcome);
    return bytes;
}

/* Puts another outcome, which is freed, in the place of a record's. */
static void predict_instead(const original *o, size_t number, mr_outcome *outcome, tally *sum)
{
    mr_bytes bytes = bytes_of(o, number, outcome);
    predict_forged(o, number, bytes.items, bytes.count, sum);
    mr_bytes_free(&bytes);
}

/* What another unit has found is not taken for what this one has, unless the same was asked, and
 * then for nothing but another of its answers. */
static void exchange(const original *o, size_t number, tally *sum)
{
    for (size_t i = 0; i < o->file.count; i++)
        if (i != number && !is_window(o, &o->file.records[i]))
            predict_instead(o, number, read_outcome(o, i), sum);
}

/* The first record once more, without its race. */
static void repeat(const original *o, size_t number, tally *sum)
{
    mr_outcome *outcome = read_outcome(o, number);
    if (outcome->count) {
        mr_record *copy = mr_outcome_add(outcome);
        assert_non_null(copy);
        *copy = outcome->records[0];
        copy->has_race = false;
    }
    predict_instead(o, number, outcome, sum);
}

/* What no run says. */
static void say_impossible(const original *o, size_t number, tally *sum)
{
    unsigned refused = sum->refused;
    mr_outcome *outcome = read_outcome(o, number);
    size_t count = outcome->count;
    outcome->no_room = true;
    predict_instead(o, number, outcome, sum);
    for (int what = 0; what < 4 && count; what++) {
        outcome = read_outcome(o, number);
        mr_record *record = &outcome->records[0];
        record->steps = what == 0 ? UINT64_MAX : record->steps;
        record->unanswered = what == 1 ? 1000 : record->unanswered;
        record->asked ^= what == 2;
        record->has_unknown |= what == 3;
        if (what == 3) /* another window */
            record->open = (mr_unknown){.first = record->first,
                                        .second = record->second,
                                        .window_start = record->first,
                                        .window_end = record->second + 1};
        predict_instead(o, number, outcome, sum);
    }
    assert_int_equal(sum->refused - refused, count ? 5 : 1);
}

/* That nothing was found is believed where it may be so. */
static void say_nothing(const original *o, size_t number, tally *sum)
{
    bool confirms = o->file.records[number].phase == 1; /* each of these has a race */
    unsigned refused = sum->refused;
    mr_outcome *outcome = read_outcome(o, number);
    for (size_t i = 0; i < outcome->count; i++)
        if (outcome->records[i].has_race) {
            mr_witness_free(&outcome->records[i].race.witness);
            outcome->records[i].has_race = false;
        }
    predict_instead(o, number, outcome, sum);
    predict_instead(o, number, mr_outcome_new(0), sum);
    assert_true(!confirms || sum->refused - refused == 2);
}

static void test_outcomes(void **state)
{
    (void)state;
    for (size_t s = 0; s < FAR_SUBJECTS; s++) {
        original o;
        tally exchanged = {0}, impossible = {0}, nothing = {0};
        open_far(&o, s);
        for (size_t i = 0; i < o.file.count; i++)
            if (!is_window(&o, &o.file.records[i])) {
                exchange(&o, i, &exchanged);
                repeat(&o, i, &exchanged);
                say_impossible(&o, i, &impossible);
                say_nothing(&o, i, &nothing);
            }
        assert_true(exchanged.refused > 3 * exchanged.used);
        close_original(&o);
    }
}

/* As if the first question of an outcome had been refused for want of memory. NULL: it has been
 * answered, or says itself why its static race is unknown. */
static mr_outcome *refuse_question(mr_outcome *outcome)
{
    mr_record *record = outcome->records;
    if (!outcome->count || !record->unanswered || record->has_unknown) {
        mr_outcome_free(outcome);
        return NULL;
    }
    assert_int_equal(record->unknown[MR_UNKNOWN_STEPS], 1);
    record->unknown[MR_UNKNOWN_STEPS] = 0;
    record->unknown[MR_UNKNOWN_MEMORY] = 1;
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
            mr_bytes bytes = bytes_of(&o, i, outcome);
            mr_saving t = predict(&o, i, bytes.items, bytes.count);
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

/* Puts a pair in its place among those that the search has found; false: it is one of them, or no
 * two accesses that conflict. */
static bool add_pair(const mr_trace *trace, mr_outcome *search, mr_event_pair pair)
{
    size_t at = 0, count = search->pair_count;
    if (!mr_events_conflict(trace, pair.first, pair.second))
        return false;
    mr_event_pair *pairs = malloc((count + 1) * sizeof *pairs);
    assert_non_null(pairs);
    while (at < count &&
           (search->pairs[at].second < pair.second ||
            (search->pairs[at].second == pair.second && search->pairs[at].first < pair.first)))
        at++;
    memcpy(pairs, search->pairs, at * sizeof *pairs);
    pairs[at] = pair;
    memcpy(pairs + at + 1, search->pairs + at, (count - at) * sizeof *pairs);
    bool is_new = at == count || search->pairs[at].first != pair.first ||
                  search->pairs[at].second != pair.second;
    free(search->pairs);
    search->pairs = pairs;
    search->pair_count++;
    return is_new;
}

/* The search for sync-preserving races names all pairs of locations once: whatever is put between
 * its pairs is none, or one that is named. */
static void test_search(void **state)
{
    (void)state;
    original o;
    tally sum = {0};
    unsigned tried = 0;
    open_far(&o, 1);
    size_t number = 0;
    while (o.file.records[number].phase || is_window(&o, &o.file.records[number]))
        number++;
    for (uint32_t second = 0; second < FAR_EVENTS; second++)
        for (uint32_t first = 0; first < second; first++) {
            mr_outcome *search = read_outcome(&o, number);
            if (add_pair(o.subject.trace, search, (mr_event_pair){first, second})) {
                predict_instead(&o, number, search, &sum);
                tried++;
            } else {
                mr_outcome_free(search);
            }
        }
    assert_true(tried > 20);
    assert_int_equal(sum.refused, tried);
    close_original(&o);
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
    mr_record *record = mr_outcome_add(outcome);
    assert_non_null(record);
    *record = (mr_record){.key_1 = trace->location[0],
                          .key_2 = trace->location[5],
                          .first = first,
                          .second = second,
                          .asked = true,
                          .has_race = race,
                          .has_unknown = !race};
    if (race)
        record->race = (mr_race){.witness = {.first = first,
                                             .second = second,
                                             .window_end = trace->event_count,
                                             .model = MR_MODEL_VALUE,
                                             .events = events,
                                             .event_count = 4},
                                 .confirmed_by = MR_STEP_SATURATE};
    else
        record->open =
            (mr_unknown){.first = first, .second = second, .window_end = trace->event_count};
    return outcome;
}

/* A record that is not true, in an outcome in which nothing else is wrong. */
static void test_false_records(void **state)
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
    const mr_saved_phase phase = {.units = s.units};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_saved_request request = {.file = mr_saving_path(rows[i].what, path)};
        mr_saved *saved;
        mr_outcome *outcome = outcome_of(s.trace, rows[i].first, rows[i].second, rows[i].race);
        assert_int_equal(mr_saved_open(&request, s.trace, s.config, &saved, &error), MR_OK);
        assert_int_equal(mr_saved_put(saved, &phase, outcome, &error), MR_OK);
        assert_int_equal(mr_saved_close(saved, &error), MR_OK);
        outcome->records[0].has_race = false; /* its events are not its own */
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
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_refused_for_memory),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_false_records),
    };
    return cmocka_run_group_tests(tests, mr_saving_setup, mr_saving_teardown);
}
