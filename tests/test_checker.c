/* The checker: right witnesses, one wrong witness per rule, and random damage against the
 * definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/definition.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/sample.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 40, RF = MR_MODEL_RF, VALUE = MR_MODEL_VALUE };

static const char locks_and_forks[] = "A|w(x=1)|1\n"   /* 0 */
                                      "A|acq(l)|2\n"   /* 1 */
                                      "A|acq(l)|3\n"   /* 2 */
                                      "A|w(y=1)|4\n"   /* 3 */
                                      "A|rel(l)|5\n"   /* 4 */
                                      "A|rel(l)|6\n"   /* 5 */
                                      "A|fork(B)|7\n"  /* 6 */
                                      "B|begin()|8\n"  /* 7 */
                                      "B|acq(l)|9\n"   /* 8 */
                                      "B|r(y=1)|10\n"  /* 9 */
                                      "B|rel(l)|11\n"  /* 10 */
                                      "B|w(x=2)|12\n"  /* 11 */
                                      "A|w(x=3)|13\n"  /* 12 */
                                      "A|join(B)|14\n" /* 13 */
                                      "A|w(z=1)|15\n"  /* 14 */
                                      "C|acq(l)|16\n"  /* 15 */
                                      "C|w(z=2)|17\n"  /* 16 */
                                      "C|rel(l)|18\n"  /* 17 */
                                      "C|r(z=2)|19\n"  /* 18 */
                                      "C|fork(D)|20\n" /* 19 */
                                      "D|w(z=3)|21\n"; /* 20 */

static const char reads[] = "# skipped\n"
                            "A|r(x=0)|1\n"   /* 0, line 2 */
                            "A|w(x=1)|2\n"   /* 1 */
                            "B|w(x=1)|3\n"   /* 2 */
                            "C|r(x=1)|4\n"   /* 3 */
                            "C|w(v=1)|5\n"   /* 4 */
                            "D|w(v=2)|6\n"   /* 5 */
                            "A|w(x=0)|7\n"   /* 6 */
                            "D|r(x=0)|8\n"   /* 7 */
                            "D|w(u=1)|9\n"   /* 8 */
                            "C|w(u=5)|10\n"  /* 9 */
                            "C|r(u=5)|11\n"  /* 10 */
                            "C|w(p=1)|12\n"  /* 11 */
                            "E|w(p=2)|13\n"; /* 12 */

static const char by_source[] = "A|w(x)|1\n"    /* 0 */
                                "B|w(x=1)|2\n"  /* 1 */
                                "C|r(x=1)|3\n"  /* 2 */
                                "C|w(v=1)|4\n"  /* 3 */
                                "D|w(v=2)|5\n"; /* 4 */

static const char open_section[] = "A|acq(l)|1\n" /* 0 */
                                   "A|rel(l)|2\n" /* 1 */
                                   "A|w(x)|3\n"   /* 2 */
                                   "B|acq(l)|4\n" /* 3 */
                                   "B|w(x)|5\n";  /* 4 */

static const char semaphore[] = "A|w(x)|1\nA|post(s)|2\nB|w(x)|3\n";

typedef struct example {
    const char *text;
    int model;
    uint32_t start, end, first, second;
    const char *events;   /* "0 1 2" */
    const char *expected; /* NULL: accepted */
    uint64_t line;        /* of the error */
} example;

static const example examples[] = {
    /* right */
    {locks_and_forks, RF, 0, 21, 11, 12, "0 1 2 3 4 5 6 7 8 9 10", NULL, 0},
    {locks_and_forks, VALUE, 0, 21, 14, 16, "15 0 1 2 3 4 5 6 7 8 9 10 11 12 13",
     "event 1 (A|acq(l), line 2): acquires a lock that thread C holds", 2},
    {locks_and_forks, VALUE, 0, 21, 14, 16, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 15", NULL, 0},
    {locks_and_forks, VALUE, 9, 17, 14, 16, "9 10 11 12 13 15", NULL, 0},
    {reads, RF, 0, 13, 4, 5, "0 1 2 3", NULL, 0},
    {reads, VALUE, 0, 13, 4, 5, "2 3", NULL, 0},
    {reads, VALUE, 0, 13, 1, 3, "0", NULL, 0},
    {reads, VALUE, 0, 13, 8, 9, "5 7 0 1 3 4", NULL, 0},
    {by_source, VALUE, 0, 5, 3, 4, "1 2", NULL, 0},
    {open_section, RF, 0, 5, 2, 4, "0 1 3", NULL, 0},
    {open_section, RF, 2, 5, 2, 4, "3", NULL, 0},

    /* numbers */
    {reads, RF, 3, 2, 4, 5, "", "window [3, 2): is not part of the trace, which has 13 events", 0},
    {reads, RF, 0, 14, 4, 5, "", "window [0, 14): is not part of the trace, which has 13 events",
     0},
    {reads, 2, 0, 13, 4, 5, "", "model 2: is unknown", 0},
    {reads, RF, 0, 13, 4, 4000000000, "", "event 4000000000: lies outside the window [0, 13)", 0},
    {reads, RF, 5, 13, 4, 5, "", "event 4 (C|w(v=1), line 6): lies outside the window [5, 13)", 6},
    {reads, RF, 0, 5, 4, 5, "", "event 5 (D|w(v=2), line 7): lies outside the window [0, 5)", 7},
    {reads, RF, 0, 13, 4, 4, "", "event 4 (C|w(v=1), line 6): is named as both accesses", 6},
    {reads, RF, 0, 13, 5, 4, "",
     "event 5 (D|w(v=2), line 7): is named as the first access, but the second, event 4, comes "
     "before "
     "it in the trace",
     7},
    {reads, RF, 0, 13, 4, 5, "0 1 77", "event 77: lies outside the window [0, 13)", 0},
    {reads, RF, 1, 13, 4, 5, "0 1 2 3",
     "event 0 (A|r(x=0), line 2): lies outside the window [1, 13)", 2},
    {reads, RF, 0, 6, 4, 5, "0 1 2 3 6",
     "event 6 (A|w(x=0), line 8): lies outside the window [0, 6)", 8},
    {reads, RF, 0, 13, 4, 5, "0 1 2 2", "event 2 (B|w(x=1), line 4): is listed twice", 4},
    {reads, RF, 0, 13, 4, 5, "0 1 2 3 4",
     "event 4 (C|w(v=1), line 6): is one of the two accesses, which must not be listed", 6},

    /* conflict */
    {locks_and_forks, RF, 0, 21, 10, 11, "",
     "event 10 (B|rel(l), line 11): is not a read or write of a variable", 11},
    {locks_and_forks, RF, 0, 21, 11, 13, "",
     "event 13 (A|join(B), line 14): is not a read or write of a variable", 14},
    {locks_and_forks, RF, 0, 21, 0, 12, "",
     "event 12 (A|w(x=3), line 13): does not conflict with event 0: they are of the same thread",
     13},
    {locks_and_forks, RF, 0, 21, 0, 9, "",
     "event 9 (B|r(y=1), line 10): does not conflict with event 0: they access different variables",
     10},
    {reads, RF, 0, 13, 0, 3, "",
     "event 3 (C|r(x=1), line 5): does not conflict with event 0: both read", 5},

    /* program order */
    {locks_and_forks, RF, 0, 21, 11, 12, "0 1 3",
     "event 3 (A|w(y=1), line 4): comes before event 2 of its thread (program order)", 4},
    {locks_and_forks, RF, 9, 21, 11, 12, "10",
     "event 10 (B|rel(l), line 11): comes before event 9 of its thread (program order)", 11},
    {locks_and_forks, RF, 0, 21, 11, 12, "0 1 2 3 4 5 6 7 8 9",
     "event 11 (B|w(x=2), line 12): is not the next event of its thread: event 10 has not happened",
     12},
    {locks_and_forks, RF, 0, 21, 0, 11, "",
     "event 11 (B|w(x=2), line 12): is not the next event of its thread: event 7 has not happened",
     12},

    /* locks */
    {locks_and_forks, RF, 0, 21, 14, 16, "0 1 2 3 4 15",
     "event 15 (C|acq(l), line 16): acquires a lock that thread A holds", 16},
    {locks_and_forks, RF, 9, 21, 14, 16, "15",
     "event 15 (C|acq(l), line 16): acquires a lock that thread B holds", 16},

    /* fork and join */
    {locks_and_forks, RF, 0, 21, 11, 12, "0 7",
     "event 7 (B|begin(), line 8): its thread is forked by event 6, which has not happened", 8},
    {locks_and_forks, RF, 14, 21, 14, 20, "",
     "event 20 (D|w(z=3), line 21): its thread is forked by event 19, which has not happened", 21},
    {locks_and_forks, RF, 0, 21, 14, 16, "0 1 2 3 4 5 6 7 8 9 10 12 13",
     "event 13 (A|join(B), line 14): joins a thread whose event 11 has not happened", 14},

    /* reads */
    {reads, RF, 0, 13, 4, 5, "2 3", NULL, 0},
    {reads, RF, 0, 13, 4, 5, "2 0",
     "event 0 (A|r(x=0), line 2): reads the write of event 2, saw none", 2},
    {reads, RF, 0, 13, 4, 5, "0 3",
     "event 3 (C|r(x=1), line 5): reads no write, saw that of event 2", 5},
    {reads, RF, 0, 13, 4, 5, "0 1 3",
     "event 3 (C|r(x=1), line 5): reads the write of event 1, saw that of event 2", 5},
    {reads, VALUE, 0, 13, 4, 5, "0 1 6 3", "event 3 (C|r(x=1), line 5): reads 0, saw 1", 5},
    {reads, VALUE, 0, 13, 4, 5, "3", "event 3 (C|r(x=1), line 5): reads the initial value 0, saw 1",
     5},
    {reads, VALUE, 4, 13, 11, 12, "4 9 5 7", "event 7 (D|r(x=0), line 9): reads 1, saw 0", 9},
    {reads, VALUE, 4, 13, 11, 12, "4 9 5 6 7 8 10", "event 10 (C|r(u=5), line 12): reads 1, saw 5",
     12},
    {"A|w(u=5)|1\nB|r(u=5)|2\nB|w(v=1)|3\nA|w(v=2)|4\n", VALUE, 0, 4, 2, 3, "1",
     "event 1 (B|r(u=5), line 2): reads an initial value that is unknown, saw 5", 2},
    {by_source, VALUE, 0, 5, 3, 4, "1 0 2",
     "event 2 (C|r(x=1), line 3): reads the write of event 0, saw that of event 1", 3},

    /* not covered */
    {semaphore, RF, 0, 3, 0, 2, "",
     "event 1 (A|post(s), line 2): operation 'post' is not covered by the checker", 2},
};

static uint32_t parse_events(const char *text, uint32_t *events)
{
    uint32_t count = 0;
    char *end;
    for (; *text; text = *end ? end + 1 : end)
        events[count++] = (uint32_t)strtoul(text, &end, 10);
    return count;
}

static void test_examples(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *x = &examples[i];
        mr_trace *trace = mr_sample_trace(x->text);
        assert_non_null(trace);
        mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
        assert_non_null(checker);
        uint32_t events[MOST_EVENTS];
        mr_witness witness = {x->first,
                              x->second,
                              x->start,
                              x->end,
                              (mr_model)x->model,
                              events,
                              parse_events(x->events, events)};
        mr_error error = {0};
        mr_status status = mr_checker_check(checker, &witness, &error);
        mr_status rejected = x->text == semaphore ? MR_ERR_UNSUPPORTED : MR_ERR_INTERNAL;
        if (status != (x->expected ? rejected : MR_OK) || error.status != status ||
            strcmp(error.text, x->expected ? x->expected : "") != 0 || error.line != x->line) {
            print_error("example %zu: status %d, line %" PRIu64 "\n  found    %s\n  expected %s\n",
                        i, status, error.line, error.text, x->expected ? x->expected : "accepted");
            wrong++;
        }
        mr_checker_free(checker);
        mr_trace_free(trace);
    }
    assert_int_equal(wrong, 0);
}

/* One checker, windows forth and back: a check leaves no trace behind. */
static void test_any_order_of_windows(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(locks_and_forks);
    assert_non_null(trace);
    mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
            const example *x = &examples[i];
            if (x->text != locks_and_forks)
                continue;
            uint32_t events[MOST_EVENTS];
            mr_witness witness = {x->first,
                                  x->second,
                                  x->start,
                                  x->end,
                                  (mr_model)x->model,
                                  events,
                                  parse_events(x->events, events)};
            mr_status status = mr_checker_check(checker, &witness, NULL);
            assert_int_equal(status, x->expected ? MR_ERR_INTERNAL : MR_OK);
        }
    }
    mr_checker_free(checker);
    mr_trace_free(trace);
}

/* ---- random damage ---- */

static void damage_list(mr_random *random, mr_witness *w, uint32_t event_count)
{
    uint32_t n = w->event_count;
    uint32_t i = mr_random_below(random, n), j = mr_random_below(random, n);
    switch (mr_random_below(random, 4)) {
    case 0: /* swap */
        if (n) {
            uint32_t event = w->events[i];
            w->events[i] = w->events[j];
            w->events[j] = event;
        }
        break;
    case 1: /* drop */
        if (n) {
            memmove(w->events + i, w->events + i + 1, (n - i - 1) * sizeof *w->events);
            w->event_count--;
        }
        break;
    case 2: /* move */
        if (n) {
            uint32_t event = w->events[i];
            memmove(w->events + i, w->events + i + 1, (n - i - 1) * sizeof *w->events);
            memmove(w->events + j + 1, w->events + j, (n - j - 1) * sizeof *w->events);
            w->events[j] = event;
        }
        break;
    default: /* insert or duplicate */
        i = mr_random_below(random, n + 1);
        memmove(w->events + i + 1, w->events + i, (n - i) * sizeof *w->events);
        w->events[i] = mr_random_below(random, event_count + 1);
        w->event_count++;
        break;
    }
}

static void damage(mr_random *random, mr_witness *w, uint32_t event_count)
{
    switch (mr_random_below(random, 12)) {
    case 0:
        w->first = mr_random_below(random, event_count + 1);
        break;
    case 1:
        w->second = mr_random_below(random, event_count + 1);
        break;
    case 2:
        w->window_start = mr_random_below(random, event_count + 1);
        break;
    case 3:
        w->window_end = mr_random_below(random, event_count + 2);
        break;
    case 4:
        w->model = w->model == MR_MODEL_RF ? MR_MODEL_VALUE : MR_MODEL_RF;
        break;
    default:
        damage_list(random, w, event_count);
        break;
    }
}

typedef struct verdicts {
    size_t accepted, rejected;
} verdicts;

static void compare(mr_checker *checker, const mr_trace *trace, const mr_witness *w,
                    const char *text, verdicts *count)
{
    mr_error error = {0};
    bool accepted = mr_checker_check(checker, w, &error) == MR_OK;
    if (accepted != mr_definition_accepts(trace, w)) {
        print_error("%s\n", text);
        for (uint32_t i = 0; i < w->event_count; i++)
            print_error("%" PRIu32 " ", w->events[i]);
        fail_msg("%s, window [%" PRIu32 ", %" PRIu32 "), accesses %" PRIu32 " %" PRIu32
                 ": the checker says '%s', the definition %s",
                 mr_model_name(w->model), w->window_start, w->window_end, w->first, w->second,
                 accepted ? "accepted" : error.text, accepted ? "no" : "yes");
    }
    count->accepted += accepted;
    count->rejected += !accepted;
}

static void damage_witnesses(mr_random *random, const char *text, verdicts *count)
{
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    uint32_t start = mr_random_below(random, trace->event_count / 2);
    mr_exhaustive search;
    assert_true(mr_exhaustive_find(trace, (mr_model)mr_random_below(random, 2), start,
                                   trace->event_count, &search));
    for (size_t i = 0; i < search.race_count; i++) {
        mr_witness right;
        assert_true(mr_exhaustive_witness(&search, i, &right));
        compare(checker, trace, &right, text, count);
        for (int round = 0; round < 12; round++) {
            uint32_t events[MOST_EVENTS];
            mr_witness wrong = right;
            wrong.events = events;
            memcpy(events, right.events, right.event_count * sizeof *events);
            for (uint32_t n = mr_random_range(random, 1, 3); n > 0; n--)
                damage(random, &wrong, trace->event_count);
            compare(checker, trace, &wrong, text, count);
        }
        mr_witness_free(&right);
    }
    mr_exhaustive_free(&search);
    mr_checker_free(checker);
    mr_trace_free(trace);
}

static void test_same_as_the_definition(void **state)
{
    (void)state;
    mr_random random = {42};
    verdicts count = {0};
    for (uint64_t seed = 5000; seed < 5060; seed++) {
        for (int shape = 0; shape < MR_SHAPE_COUNT; shape++) {
            char *text = mr_generate_trace(seed, (mr_shape)shape);
            assert_non_null(text);
            damage_witnesses(&random, text, &count);
            free(text);
        }
    }
    assert_true(count.accepted > 2000 && count.rejected > 2000);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(reads);
    assert_non_null(trace);
    uint32_t events[] = {0, 1, 2, 3};
    mr_witness witness = {4, 5, 0, 13, MR_MODEL_RF, events, 4};
    mr_status status = MR_ERR_MEMORY;
    for (uint64_t n = 1; status == MR_ERR_MEMORY; n++) {
        mr_error error = {0};
        mr_memory_fail_after(n);
        mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
        if (checker)
            status = mr_checker_check(checker, &witness, &error);
        mr_memory_fail_after(0);
        if (checker && status == MR_ERR_MEMORY)
            assert_int_equal(mr_checker_check(checker, &witness, &error), MR_OK);
        mr_checker_free(checker);
        assert_true(n < 100);
    }
    assert_int_equal(status, MR_OK);
    mr_checker_free(NULL);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_any_order_of_windows),
        cmocka_unit_test(test_same_as_the_definition),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
