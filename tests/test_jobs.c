/*
 * The result does not depend on who decides the windows, or when: any number of threads, and every
 * window by someone who knows nothing of the others, its outcome sent as bytes. On random traces,
 * under budgets so small that much is cut off.
 *
 * JOBS_TRACES, JOBS_REPEATED, JOBS_DEFERRED and JOBS_SEED in the environment choose other traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/hard.h"
#include "order/detect/detect.h"
#include "predict/label.h"
#include "predict/memory_order.h"
#include "predict/merge.h"
#include "predict/worker.h"
#include "support/generate.h"
#include "support/generate_large.h"
#include "support/length.h"
#include "support/predicted.h"
#include "support/sample.h"
#include "witness/pack.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_TRACES = 600, SHARE_TRACES = 100, DEFAULT_SEED = 20261121, LARGE_EVENTS = 1000 };

/* What is asked of a trace: keys and values. */
static const char *const questions[][9] = {
    {"window.size", "8", "candidates.far", "none"},
    {"window.size", "6", "candidates.report", "event", "model", "rf"},
    {"window.size", "10", "candidates.max_unanswered", "1", "solver.steps",
     "filter,cone,linearise"},
    {"window.size", "30", "candidates.max_window_steps", "60", "solver.steps",
     "filter,cone,saturate"},
    {"window.size", "30", "candidates.max_window_steps", "200", "solver.steps", "cone,saturate"},
    {"window.size", "9", "candidates.prefilter", "wcp", "candidates.far", "syncp"},
    {"window.size", "9", "candidates.prefilter", "hb", "candidates.far", "shb"},
    {"window.size", "16", "model", "branch"},
    {"window.size", "12", "solver.steps", "filter,cone,lazy,z3"},
    /* every question is hard: close races are looked for (predict/near.h) */
    {"window.size", "24", "solver.saturate_steps", "1", "solver.steps",
     "filter,cone,saturate,lazy"},
    {"window.size", "30", "solver.saturate_steps", "1", "solver.steps", "cone,saturate",
     "candidates.max_window_steps", "300"},
};

enum { QUESTIONS = sizeof questions / sizeof *questions };

static mr_config *configure(const char *const *question, unsigned jobs)
{
    char text[16];
    mr_config *config = mr_settings_of(question);
    snprintf(text, sizeof text, "%u", jobs);
    mr_settings_set(config, "jobs", text);
    mr_settings_set(config, "report.run", "false");
    return config;
}

static char *predict(const mr_trace *trace, const char *const *question, unsigned jobs)
{
    mr_config *config = configure(question, jobs);
    mr_result result = mr_predicted(trace, config);
    char *text = mr_predicted_report(trace, config, &result);
    mr_result_free(&result);
    mr_config_free(config);
    return text;
}

static void check_same(char *expected, char *found, const char *what, const char *text)
{
    size_t at = 0;
    while (expected[at] && expected[at] == found[at])
        at++;
    if (expected[at] || found[at])
        fail_msg("%s differs from one thread at byte %zu: %.300s\n---- one thread: %.300s\n%s",
                 what, at, found + at, expected + at, text);
    free(found);
}

/* ---- every window alone ---- */

/* Through bytes and back; the bytes of what comes back are the same. */
static mr_outcome *send(const mr_trace *trace, mr_outcome *outcome)
{
    mr_bytes bytes = {0}, again = {0};
    bool damaged = false;
    assert_true(mr_outcome_write(trace, outcome, &bytes));
    mr_outcome *copy = mr_outcome_read(trace, bytes.items, bytes.count, &damaged);
    assert_non_null(copy);
    assert_true(mr_outcome_write(trace, copy, &again));
    assert_int_equal(bytes.count, again.count);
    assert_memory_equal(bytes.items, again.items, bytes.count);
    mr_bytes_free(&bytes);
    mr_bytes_free(&again);
    mr_outcome_free(outcome);
    return copy;
}

/* Promises as if the first window had found a race of every second pair of places. */
static void promise(mr_known_races *known, const mr_trace *trace)
{
    for (uint32_t two = 0; two < trace->locations.count; two++)
        for (uint32_t one = two & 1; one <= two; one += 2)
            mr_known_races_settle(known, 0, one, two, true);
}

/* By a worker made for it, which takes promises when `trusts`. */
static mr_outcome *decide(const mr_predict_settings *settings, mr_known_races *known, bool trusts,
                          uint64_t window)
{
    mr_worker worker;
    mr_error error = {0};
    mr_outcome *outcome = mr_outcome_new(window);
    assert_non_null(outcome);
    mr_status status = mr_worker_init(&worker, settings, known, &error);
    worker.trusts = trusts;
    if (status != MR_OK || mr_worker_decide_window(&worker, window, outcome, &error) != MR_OK)
        fail_msg("%s", error.text);
    mr_worker_free(&worker);
    return outcome;
}

/* By workers that know as much as `known` does. Returns how many windows had to be decided again. */
static unsigned merge_windows(mr_merge *merge, mr_known_races *known)
{
    mr_error error = {0};
    unsigned again = 0;
    for (uint32_t k = 0; k < mr_window_plan_count(&merge->settings->plan); k++) {
        mr_outcome *outcome =
            send(merge->settings->trace, decide(merge->settings, known, known != NULL, k));
        if (!mr_merge_is_complete(merge, outcome)) {
            mr_outcome_free(outcome);
            outcome = decide(merge->settings, merge->known, false, k);
            assert_true(mr_merge_is_complete(merge, outcome));
            again++;
        }
        assert_int_equal(mr_merge_window(merge, outcome, &error), MR_OK);
        mr_outcome_free(outcome);
    }
    return again;
}

/* By workers that know nothing of other windows or, with `promises`, something wrong. */
static char *predict_apart(const mr_trace *trace, const char *const *question, bool promises,
                           unsigned *again)
{
    mr_config *config = configure(question, 1);
    mr_result result = {0};
    mr_error error = {0};
    mr_predict_settings settings;
    mr_settings_set(config, "candidates.far", "none");
    mr_settings_set(config, "find", "races");
    assert_int_equal(mr_predict_settings_read(&settings, trace, config, &error), MR_OK);
    mr_merge merge = {.settings = &settings, .result = &result, .known = mr_known_races_new()};
    mr_known_races *told = promises ? mr_known_races_new() : NULL;
    assert_non_null(merge.known);
    if (told)
        promise(told, trace);
    *again += merge_windows(&merge, told);
    mr_known_races_free(told);
    assert_int_equal(mr_merge_finish(&merge, &error), MR_OK);
    assert_int_equal(mr_label_result(&settings, &result, &error), MR_OK);
    assert_int_equal(mr_memory_order_find(&settings, &result, &error), MR_OK);
    char *text = mr_predicted_report(trace, config, &result);
    mr_ledger_free(&merge.ledger);
    mr_known_races_free(merge.known);
    mr_predict_settings_free(&settings);
    mr_result_free(&result);
    mr_config_free(config);
    return text;
}

/* The same question, for races of windows only. */
static void leave_out_far(const char *const *question, const char *changed[14])
{
    size_t count = 0;
    for (; question[count]; count++)
        changed[count] = question[count];
    changed[count++] = "candidates.far";
    changed[count++] = "none";
    changed[count++] = "find";
    changed[count++] = "races";
    changed[count] = NULL;
}

/* ---- the tests ---- */

typedef struct tally {
    unsigned traces, races, others, again, broken;
} tally;

static void examine(const char *text, const char *const *question, tally *sum)
{
    static const unsigned jobs[] = {2, 3, 4, 5, 8};
    const char *windows_only[14];
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    char *expected = predict(trace, question, 1);
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j += 1 + (sum->traces & 1))
        check_same(expected, predict(trace, question, jobs[j]), "several threads", text);
    sum->races += strstr(expected, "\"confirmed_by\"") != NULL;
    sum->others += strstr(expected, "\"kind\"") != NULL;
    free(expected);
    leave_out_far(question, windows_only);
    expected = predict(trace, windows_only, 1);
    check_same(expected, predict_apart(trace, question, false, &sum->again), "every window alone",
               text);
    check_same(expected, predict_apart(trace, question, true, &sum->broken), "broken promises",
               text);
    free(expected);
    mr_trace_free(trace);
    sum->traces++;
}

static void test_small(void **state)
{
    (void)state;
    uint64_t traces = mr_length("JOBS_TRACES", SHARE_TRACES, DEFAULT_TRACES);
    uint64_t seed = mr_number_from_environment("JOBS_SEED", DEFAULT_SEED);
    tally sum = {0};
    for (uint64_t i = 0; i < traces; i++) {
        mr_random random = {seed + i};
        char *text = mr_generate_longer_trace(
            mr_random_next(&random),
            (mr_shape)mr_random_range(&random, 0, MR_SHAPE_WITH_GOALS - 1));
        assert_non_null(text);
        examine(text, questions[i % QUESTIONS], &sum);
        free(text);
    }
    printf("%u traces, %u with races or other findings, %u with others, %u windows decided again, "
           "%u for broken promises\n",
           sum.traces, sum.races, sum.others, sum.again, sum.broken);
    assert_true(sum.races > traces / 4);
    assert_true(sum.again > 0 || traces < DEFAULT_TRACES);
    assert_true(sum.broken > sum.again || traces < DEFAULT_TRACES);
}

/* Larger ones, with windows that take longer than others; as many as there are small ones, at most.
 */
static void test_large(void **state)
{
    static const char *const question[] = {"window.size",
                                           "200",
                                           "candidates.max_window_steps",
                                           "200000",
                                           "solver.steps",
                                           "filter,cone,linearise,eliminate,greedy,saturate",
                                           "solver.saturate_steps",
                                           "20000",
                                           NULL};
    uint64_t seed = mr_number_from_environment("JOBS_SEED", DEFAULT_SEED);
    uint64_t traces = mr_length("JOBS_TRACES", SHARE_TRACES / 4, DEFAULT_TRACES);
    uint64_t shapes = (traces + QUESTIONS / 2) / QUESTIONS; /* not 0 with TEST_LENGTH=few */
    tally sum = {0};
    (void)state;
    for (size_t s = 0; s < mr_large_shape_count && s < shapes; s++) {
        char *text = mr_generate_large(seed + s, &mr_large_shapes[s], LARGE_EVENTS);
        assert_non_null(text);
        examine(text, question, &sum);
        free(text);
    }
    printf("%u traces, %u with races or other findings, %u with others, %u windows decided again\n",
           sum.traces, sum.races, sum.others, sum.again);
    assert_int_equal(sum.races, sum.traces);
}

/* Leaves out, in place, what can happen once only. The number of events that stay; 0 when a lock is left open. */
static unsigned keep_repeatable(char *text)
{
    static const char *const ops[] = {"begin(", "end(", "fork(", "join("};
    char *to = text;
    unsigned count = 0, open = 0;
    for (char *line = text, *end; *line; line = end) {
        bool keeps = true;
        const char *op = strchr(line, '|') + 1;
        end = strchr(line, '\n') + 1;
        bool acquires = strncmp(op, "acq(", 4) == 0, releases = strncmp(op, "rel(", 4) == 0;
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
            keeps = keeps && strncmp(op, ops[i], strlen(ops[i])) != 0;
        if (keeps)
            memmove(to, line, (size_t)(end - line));
        to += keeps ? end - line : 0;
        count += keeps;
        open += acquires;
        open -= releases;
    }
    *to = '\0';
    return open ? 0 : count;
}

/* A window for each of some repetitions of a short trace. NULL: the trace has nothing to repeat. */
static char *repeat(uint64_t number, unsigned *events)
{
    enum { TIMES = 5 };
    static const mr_shape shapes[] = {MR_SHAPE_PLAIN_LOCKS, MR_SHAPE_NESTED_LOCKS,
                                      MR_SHAPE_HAND_OVER_HAND, MR_SHAPE_SMALL_VALUES,
                                      MR_SHAPE_NO_VALUES};
    uint64_t seed = mr_number_from_environment("JOBS_SEED", DEFAULT_SEED);
    char *once =
        mr_generate_longer_trace(seed + number, shapes[number % (sizeof shapes / sizeof *shapes)]);
    assert_non_null(once);
    *events = keep_repeatable(once);
    size_t length = strlen(once);
    char *text = *events ? malloc(TIMES * length + 1) : NULL;
    assert_true(text || !*events);
    for (size_t k = 0; text && k < TIMES; k++)
        memcpy(text + k * length, once, length + 1);
    free(once);
    return text;
}

/* The pairs of places are the same in all windows, and the budget covers one or two
 * questions: a window that asks about a pair that the one before has proven has nothing left for the next pair. */
static void test_repeated(void **state)
{
    (void)state;
    uint64_t traces = mr_length("JOBS_REPEATED", 10, 100);
    tally sum = {0};
    for (uint64_t i = 0; i < traces; i++) {
        char size[16], steps[16];
        unsigned events;
        char *text = repeat(i, &events);
        snprintf(size, sizeof size, "%u", events);
        snprintf(steps, sizeof steps, "%u", 1 + (unsigned)(i % 40));
        const char *const question[] = {
            "window.size", size,           "window.overlap", "0", "candidates.max_window_steps",
            steps,         "solver.steps", "cone,saturate",  NULL};
        if (text)
            examine(text, question, &sum);
        free(text);
    }
    printf("%u traces, %u with races or other findings, %u windows decided again\n", sum.traces,
           sum.races, sum.again);
    assert_true(sum.again >= sum.traces / 4 && sum.traces >= traces / 4);
}

/* What the windows leave for later (deferred.h). */
static mr_deferred defer(const mr_trace *trace, const char *const *question, bool knows,
                         unsigned *again)
{
    mr_config *config = configure(question, 1);
    mr_result result = {0};
    mr_error error = {0};
    mr_predict_settings settings;
    assert_int_equal(mr_predict_settings_read(&settings, trace, config, &error), MR_OK);
    settings.defers = true;
    mr_merge merge = {.settings = &settings, .result = &result, .known = mr_known_races_new()};
    assert_non_null(merge.known);
    *again = merge_windows(&merge, knows ? merge.known : NULL);
    mr_ledger_free(&merge.ledger);
    mr_known_races_free(merge.known);
    mr_predict_settings_free(&settings);
    mr_result_free(&result);
    mr_config_free(config);
    return merge.deferred;
}

/* A window that leaves its questions asks until it has spent as much effort as it has events. A worker that asks about pairs that
 * the window before has proven stops too early. */
static void test_deferred(void **state)
{
    (void)state;
    uint64_t traces = mr_length("JOBS_DEFERRED", 200, 2000);
    unsigned many = 0;
    for (uint64_t i = 0; i < traces; i++) {
        char size[16];
        unsigned events, again, none;
        char *text = repeat(i, &events);
        mr_trace *trace = text ? mr_sample_trace(text) : NULL;
        snprintf(size, sizeof size, "%u", events);
        const char *const question[] = {"window.size", size,           "window.overlap",
                                        "0",           "solver.steps", "cone,eliminate,greedy",
                                        NULL};
        if (trace) {
            mr_deferred alone = defer(trace, question, false, &again);
            mr_deferred expected = defer(trace, question, true, &none);
            many += again;
            assert_int_equal(none, 0);
            assert_int_equal(alone.count, expected.count);
            for (size_t k = 0; k < alone.count; k++) {
                assert_int_equal(alone.groups[k].window, expected.groups[k].window);
                assert_int_equal(alone.groups[k].key_1, expected.groups[k].key_1);
                assert_int_equal(alone.groups[k].key_2, expected.groups[k].key_2);
            }
            mr_deferred_free(&alone);
            mr_deferred_free(&expected);
            mr_trace_free(trace);
        }
        free(text);
    }
    printf("%u windows decided again\n", many);
    assert_true(many > 0 || traces < 2000);
}

/* ---- races that are foreseen (known_races.h) ---- */

/* Without attempts in trace order each race takes a question. */
static const char *const by_questions[] = {
    "window.size", "30", "candidates.far", "syncp", "solver.steps", "filter,cone,saturate", NULL};

/* A worker does not ask about them, and the merge drops the answers of one who did. The number of them. */
static size_t foresee_window(const mr_trace *trace)
{
    mr_config *config = configure(by_questions, 1);
    mr_result result = {0};
    mr_predict_settings settings;
    mr_error error = {0};
    size_t foreseen = 0;
    assert_int_equal(mr_predict_settings_read(&settings, trace, config, &error), MR_OK);
    mr_merge merge = {.settings = &settings, .result = &result, .known = mr_known_races_new()};
    assert_non_null(merge.known);
    mr_outcome *all = decide(&settings, NULL, false, 0);
    for (size_t i = 0; i < all->count; i++)
        if (all->verdicts[i].has_race && foreseen++ % 2 == 0)
            assert_true(mr_known_races_foresee(merge.known, all->verdicts[i].key_1,
                                               all->verdicts[i].key_2));
    mr_outcome *left = decide(&settings, merge.known, false, 0);
    assert_int_equal(left->count, all->count);
    for (size_t i = 0; i < left->count; i++) {
        mr_pair_verdict *verdict = &left->verdicts[i];
        bool open = !mr_known_races_is_foreseen(merge.known, verdict->key_1, verdict->key_2);
        assert_int_equal(verdict->asked, open && all->verdicts[i].asked);
        assert_int_equal(verdict->has_race, open && all->verdicts[i].has_race);
    }
    assert_true(mr_merge_is_complete(&merge, left));
    assert_int_equal(mr_merge_window(&merge, all, &error), MR_OK);
    assert_int_equal(result.race_count, foreseen / 2);
    mr_outcome_free(all);
    mr_outcome_free(left);
    mr_ledger_free(&merge.ledger);
    mr_known_races_free(merge.known);
    mr_predict_settings_free(&settings);
    mr_result_free(&result);
    mr_config_free(config);
    return foreseen;
}

/* Each race that the search finds is the one that it has found. The number of them. */
static size_t foresee_trace(const mr_trace *trace, unsigned jobs)
{
    mr_config *config = configure(by_questions, jobs);
    mr_result result = mr_predicted(trace, config);
    mr_detect_options options = {.most_examples = 1};
    mr_race_list list;
    mr_error error = {0};
    size_t searched = 0;
    assert_int_equal(mr_detect(MR_RELATION_SYNCP, trace, &options, &list, &error), MR_OK);
    for (size_t i = 0; i < result.race_count; i++) {
        const mr_race *race = &result.races[i];
        uint32_t one = trace->location[race->witness.first];
        uint32_t two = trace->location[race->witness.second];
        bool in_list = false;
        for (size_t k = 0; k < list.race_count; k++)
            in_list |= list.races[k].low == (one < two ? one : two) &&
                       list.races[k].high == (one < two ? two : one);
        assert_int_equal(in_list, race->confirmed_by == MR_STEP_FAR);
        searched += in_list;
    }
    assert_int_equal(searched, list.race_count);
    mr_race_list_free(&list);
    mr_result_free(&result);
    mr_config_free(config);
    return searched;
}

static void test_foreseen(void **state)
{
    (void)state;
    enum { TRACES = 24 };
    size_t in_window = 0, in_trace = 0;
    for (uint64_t i = 0; i < TRACES; i++) {
        char *text = mr_generate_longer_trace(DEFAULT_SEED + i, MR_SHAPE_PLAIN_LOCKS);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        in_window += foresee_window(trace);
        in_trace += foresee_trace(trace, 1 + (unsigned)(i % 3));
        mr_trace_free(trace);
        free(text);
    }
    printf("%zu races of windows, %zu of the search\n", in_window, in_trace);
    assert_true(in_window > TRACES && in_trace > TRACES);
}

/* ---- bytes that are not what was written ---- */

static void check_bytes(const mr_trace *trace, const uint8_t *bytes, size_t count)
{
    bool damaged = false;
    uint8_t *copy = malloc(count ? count : 1); /* of its own, so that reading past it is seen */
    assert_non_null(copy);
    memcpy(copy, bytes, count);
    mr_outcome *outcome = mr_outcome_read(trace, copy, count, &damaged);
    assert_true(outcome ? !damaged : damaged);
    for (size_t i = 0; outcome && i < outcome->count; i++) {
        const mr_pair_verdict *verdict = &outcome->verdicts[i];
        assert_true(verdict->first < verdict->second && verdict->second < trace->event_count);
        mr_witness room;
        if (verdict->has_race)
            assert_non_null(mr_witness_open(trace, &verdict->race.witness, &room));
        if (verdict->has_race)
            mr_witness_free(&room);
    }
    mr_outcome_free(outcome);
    free(copy);
}

/* A promise counts as long as the merge would keep it. */
static void test_unanswered(void **state)
{
    enum { WINDOW = 2, ABOVE = 3 };
    mr_known_races *known = mr_known_races_new();
    (void)state;
    assert_non_null(known);
    mr_known_races_leave(known, 1, 2, 1);
    assert_int_equal(mr_known_races_below_says(known, 1, 2, ABOVE, 2), MR_BELOW_NOTHING);
    mr_known_races_settle(known, WINDOW, 1, 2, true);
    assert_int_equal(mr_known_races_below_says(known, 1, 2, ABOVE, 2), MR_BELOW_PROMISED);
    assert_int_equal(mr_known_races_below_says(known, 1, 2, WINDOW, 2), MR_BELOW_NOTHING);
    mr_known_races_leave(known, 1, 2, 1);
    assert_int_equal(mr_known_races_below_says(known, 1, 2, ABOVE, 2), MR_BELOW_NOTHING);
    assert_int_equal(mr_known_races_below_says(known, 1, 2, ABOVE, 3), MR_BELOW_PROMISED);
    assert_int_equal(mr_known_races_below_says(known, 1, 2, ABOVE, 0), MR_BELOW_PROMISED);
    mr_known_races_free(known);
}

/* Nests of locks: nearly all questions are hard. */
static mr_trace *make_nested(void)
{
    static const mr_hard_shape shape = {"", MR_HARD_NESTED, 2000, 6, 20, 0, 8, true, 4};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_true(mr_hard_write(&shape, out));
    assert_int_equal(fclose(out), 0);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    free(text);
    return trace;
}

/* Where the merge drops races of pairs that had too many questions without an answer, no window trusts in them: none is decided
 * again. */
static void test_hopeless(void **state)
{
    static const char *const question[] = {"window.size",
                                           "200",
                                           "candidates.far",
                                           "none",
                                           "candidates.max_unanswered",
                                           "1",
                                           "solver.steps",
                                           "filter,cone,saturate",
                                           "solver.saturate_steps",
                                           "10",
                                           NULL};
    (void)state;
    mr_trace *trace = make_nested();
    mr_config *config = configure(question, 1);
    mr_result result = mr_predicted(trace, config);
    assert_true(result.race_count > 0);
    assert_true(result.unknown_count > result.race_count);
    assert_int_equal(result.run.windows_again, 0);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
}

typedef struct first_window {
    mr_known_races *known;
    long takes_ms; /* < 1000 */
} first_window;

static void *end_first(void *context)
{
    const first_window *first = context;
    nanosleep(&(struct timespec){.tv_nsec = first->takes_ms * 1000000}, NULL);
    mr_known_races_end(first->known, 0);
    return NULL;
}

/* By a worker made for it, while the first window seems to be in its long search for all pairs of places, and ends in vain. */
static mr_outcome *decide_beside(const mr_predict_settings *settings, first_window first,
                                 uint64_t window)
{
    pthread_t thread;
    mr_known_races_begin(first.known, 0);
    for (uint32_t two = 0; two < settings->trace->locations.count; two++)
        for (uint32_t one = 0; one <= two; one++)
            mr_known_races_list(first.known, 0, one, two);
    mr_known_races_search(first.known, 0);
    assert_int_equal(pthread_create(&thread, NULL, end_first, &first), 0);
    mr_outcome *outcome = decide(settings, first.known, true, window);
    pthread_join(thread, NULL);
    return outcome;
}

/* Returns whether the window has waited. Its outcome is that of a window alone. */
static bool try_beside(const mr_predict_settings *settings, long takes_ms, uint64_t window)
{
    first_window first = {mr_known_races_new(), takes_ms};
    mr_bytes bytes = {0}, expected = {0};
    assert_non_null(first.known);
    mr_outcome *outcome = decide_beside(settings, first, window);
    mr_outcome *alone = decide(settings, NULL, false, window);
    assert_true(mr_outcome_write(settings->trace, outcome, &bytes));
    assert_true(mr_outcome_write(settings->trace, alone, &expected));
    assert_int_equal(bytes.count, expected.count);
    assert_memory_equal(bytes.items, expected.items, bytes.count);
    bool waited = !mr_known_races_may_wait(first.known); /* in vain */
    mr_bytes_free(&bytes);
    mr_bytes_free(&expected);
    mr_outcome_free(outcome);
    mr_outcome_free(alone);
    mr_known_races_free(first.known);
    return waited;
}

/* Questions that wait for a lower window are asked after all others, with the same answers. The lower one takes ever longer, until
 * one has waited. */
static void test_put_off(void **state)
{
    static const char *const question[] = {
        "window.size", "200", "solver.steps", "filter,cone,saturate", "solver.saturate_steps",
        "10",          NULL};
    unsigned waits = 0;
    (void)state;
    mr_trace *trace = make_nested();
    mr_config *config = configure(question, 1);
    mr_predict_settings settings;
    mr_error error = {0};
    assert_int_equal(mr_predict_settings_read(&settings, trace, config, &error), MR_OK);
    for (long takes_ms = 2; !waits && takes_ms < 1000; takes_ms *= 8)
        for (uint32_t k = 1; k < mr_window_plan_count(&settings.plan); k++)
            waits += try_beside(&settings, takes_ms, k);
    assert_true(waits > 0);
    mr_predict_settings_free(&settings);
    mr_config_free(config);
    mr_trace_free(trace);
}

/* Every prefix, and every byte changed. */
static void test_damaged(void **state)
{
    (void)state;
    char *text = mr_generate_longer_trace(3, MR_SHAPE_MIXED);
    mr_trace *trace = mr_sample_trace(text);
    mr_config *config = configure(questions[0], 1);
    mr_predict_settings settings;
    mr_error error = {0};
    mr_bytes bytes = {0};
    assert_int_equal(mr_predict_settings_read(&settings, trace, config, &error), MR_OK);
    mr_outcome *outcome = decide(&settings, NULL, false, 1);
    assert_true(outcome->count > 0);
    assert_true(mr_outcome_write(trace, outcome, &bytes));
    for (size_t count = 0; count < bytes.count; count++)
        check_bytes(trace, bytes.items, count);
    for (size_t i = 0; i < bytes.count; i++)
        for (unsigned change = 1; change < 256; change++) {
            bytes.items[i] ^= (uint8_t)change;
            check_bytes(trace, bytes.items, bytes.count);
            bytes.items[i] ^= (uint8_t)change;
        }
    mr_bytes_free(&bytes);
    mr_outcome_free(outcome);
    mr_predict_settings_free(&settings);
    mr_config_free(config);
    mr_trace_free(trace);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),    cmocka_unit_test(test_large),
        cmocka_unit_test(test_repeated), cmocka_unit_test(test_deferred),
        cmocka_unit_test(test_foreseen), cmocka_unit_test(test_unanswered),
        cmocka_unit_test(test_hopeless), cmocka_unit_test(test_put_off),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
