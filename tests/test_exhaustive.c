/* The exhaustive search against hand-made traces, against the definition, and against the checker.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/definition.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/length.h"
#include "support/sample.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Races are written "1-6 2-3"; NULL: the same as in the model before, `branch`: not asked. */
typedef struct known {
    const char *name, *text;
    uint32_t start, end; /* end 0: the end of the trace */
    const char *rf, *value, *branch;
} known;

static const known plain[] = {
    {"race that must deadlock",
     "A|acq(k)|1\nA|w(x)|2\nA|acq(l)|3\nA|rel(l)|4\nA|rel(k)|5\n"
     "B|acq(l)|6\nB|w(x)|7\nB|acq(k)|8\nB|rel(k)|9\nB|rel(l)|10\n",
     0, 0, "1-6", NULL, NULL},
    {"its twin with a common lock",
     "A|acq(k)|1\nA|w(x)|2\nA|acq(l)|3\nA|rel(l)|4\nA|rel(k)|5\n"
     "B|acq(k)|6\nB|w(x)|7\nB|acq(l)|8\nB|rel(l)|9\nB|rel(k)|10\n",
     0, 0, "", NULL, NULL},
    {"two reads, two variables, one thread", "A|r(x)|1\nB|r(x)|2\nA|w(y)|3\nB|w(z)|4\nA|w(y)|5\n",
     0, 0, "", NULL, NULL},
    {"a read that has not raced sees what it saw", "A|w(x=1)|1\nB|r(x=1)|2\nB|w(x=2)|3\n", 0, 0,
     "0-1", NULL, NULL},
    {"another writer of the value", "C|w(x=1)|1\nA|w(y=1)|2\nA|w(x=1)|3\nB|r(x=1)|4\nB|w(y=2)|5\n",
     0, 0, "0-2 0-3 2-3", "0-2 0-3 1-4 2-3", NULL},
    {"another writer of another value",
     "C|w(x=2)|1\nA|w(y=1)|2\nA|w(x=1)|3\nB|r(x=1)|4\nB|w(y=2)|5\n", 0, 0, "0-2 0-3 2-3", NULL,
     NULL},
    {"a variable with a missing value",
     "C|w(x=1)|1\nA|w(y=1)|2\nA|w(x=1)|3\nB|r(x=1)|4\nB|w(y=2)|5\nB|r(x)|6\n", 0, 0,
     "0-2 0-3 0-5 2-3", NULL, NULL},
    {"the initial value", "C|r(x=0)|1\nA|w(y=1)|2\nA|w(x=0)|3\nB|r(x=0)|4\nB|w(y=2)|5\n", 0, 0,
     "0-2 2-3", "0-2 1-4 2-3", NULL},
    {"no initial value is known", "A|w(y=1)|2\nA|w(x=0)|3\nB|r(x=0)|4\nB|w(y=2)|5\n", 0, 0, "1-2",
     NULL, NULL},
    {"two different initial reads: by source",
     "C|r(x=0)|1\nC|r(x=1)|2\nA|w(y=1)|3\nA|w(x=0)|4\nB|r(x=0)|5\nB|w(y=2)|6\n", 0, 0,
     "0-3 1-3 3-4", NULL, NULL},
    {"a read that saw another value: by source",
     "C|r(x=0)|1\nA|w(y=1)|2\nA|w(x=0)|3\nB|r(x=0)|4\nB|w(y=2)|5\nC|r(x=7)|6\n", 0, 0,
     "0-2 2-3 2-5", NULL, NULL},
    {"fork and join", "A|w(x)|1\nA|fork(B)|2\nB|w(x)|3\nA|join(B)|4\nA|w(x)|5\n", 0, 0, "", NULL,
     NULL},
    {"between fork and join", "A|fork(B)|1\nA|w(x)|2\nB|w(x)|3\nA|join(B)|4\n", 0, 0, "1-2", NULL,
     NULL},
    {"a fork by a third thread orders nothing", "C|fork(B)|1\nA|w(x)|2\nB|w(x)|3\nA|join(B)|4\n", 0,
     0, "1-2", NULL, NULL},
    {"a join of a thread without events", "A|fork(B)|1\nA|join(B)|2\nA|w(x)|3\nC|w(x)|4\n", 0, 0,
     "2-3", NULL, NULL},
    {"begin comes before the access", "A|begin()|1\nA|w(x)|2\nA|end()|3\nB|begin()|4\nB|w(x)|5\n",
     0, 0, "1-4", NULL, NULL},
    {"only the outermost release frees the lock",
     "A|acq(l)|1\nA|acq(l)|2\nA|rel(l)|3\nA|w(x)|4\nA|rel(l)|5\nB|acq(l)|6\nB|w(x)|7\nB|rel(l)|8\n",
     0, 0, "", NULL, NULL},
    {"after the outermost release",
     "A|acq(l)|1\nA|acq(l)|2\nA|rel(l)|3\nA|rel(l)|4\nA|w(x)|5\nB|acq(l)|6\nB|w(x)|7\nB|rel(l)|8\n",
     0, 0, "4-6", NULL, NULL},
    {"a section left open", "B|acq(l)|1\nB|rel(l)|2\nB|w(x)|3\nA|acq(l)|4\nA|w(x)|5\n", 0, 0, "2-4",
     NULL, NULL},
    {"an optional release of another thread",
     "C|acq(l)|1\nC|rel(l)|2\nA|w(x)|3\nA|acq(l)|4\nA|w(y)|5\nA|rel(l)|6\nB|w(x)|7\nB|acq(l)|8\n"
     "B|rel(l)|9\nB|w(y)|10\n",
     0, 0, "2-6 4-9", NULL, NULL},
    {"lock held at the start of the window",
     "A|acq(l)|1\nA|w(x)|2\nA|rel(l)|3\nB|acq(l)|4\nB|w(x)|5\nB|rel(l)|6\nA|w(x)|7\n", 1, 7, "4-6",
     NULL, NULL},
    {"nothing of the window before its end",
     "A|acq(l)|1\nA|w(x)|2\nA|rel(l)|3\nB|acq(l)|4\nB|w(x)|5\nB|rel(l)|6\nA|w(x)|7\n", 1, 6, "",
     NULL, NULL},
    {"the value carried into the window",
     "C|w(x=1)|1\nA|w(y=1)|2\nA|w(x=1)|3\nB|r(x=1)|4\nB|w(y=2)|5\n", 1, 5, "2-3", "1-4 2-3", NULL},
    {"the initial value carried into the window",
     "C|r(x=0)|1\nA|w(y=1)|2\nA|w(x=0)|3\nB|r(x=0)|4\nB|w(y=2)|5\n", 1, 5, "2-3", "1-4 2-3", NULL},
    {"forked before the window", "A|fork(B)|1\nA|w(x)|2\nB|w(x)|3\n", 1, 3, "1-2", NULL, NULL},
    {"forked within the window", "C|w(x)|1\nC|w(x)|2\nA|w(x)|3\nA|fork(B)|4\nB|w(x)|5\n", 2, 5, "",
     NULL, NULL},
};

/* Pairs of a trace with a race and its neighbour without it, for each kind of operation. */
static const known kinds[] = {
    {"atomic accesses do not race with each other", "A|aw(x)|1\nB|au(x)|2\nC|ar(x)|3\n", 0, 0, "",
     NULL, NULL},
    {"but with plain ones", "A|aw(x)|1\nB|w(x)|2\nC|ar(x)|3\nD|r(x)|4\n", 0, 0, "0-1 0-3 1-2 1-3",
     NULL, NULL},
    {"an update sees and is seen",
     "A|w(y=1)|1\nA|aw(x=1)|2\nB|au(x=1>2)|3\nC|ar(x=2)|4\nC|w(y=2)|5\n", 0, 0, "", "", "0-4"},
    {"another write of what the update wrote",
     "D|aw(x=2)|1\nA|w(y=1)|2\nA|aw(x=1)|3\nB|au(x=1>2)|4\nC|ar(x=2)|5\nC|w(y=2)|6\n", 0, 0, "",
     "1-5", "1-5"},
    {"sections that are both shared",
     "A|racq(l)|1\nA|w(x)|2\nA|rrel(l)|3\nB|racq(l)|4\nB|w(x)|5\nB|rrel(l)|6\n", 0, 0, "1-4", NULL,
     NULL},
    {"one of them exclusive",
     "A|racq(l)|1\nA|w(x)|2\nA|rrel(l)|3\nB|acq(l)|4\nB|w(x)|5\nB|rel(l)|6\n", 0, 0, "", NULL,
     NULL},
    {"an upgraded lock, and held shared again",
     "A|racq(l)|1\nA|acq(l)|2\nA|w(x)|3\nA|rel(l)|4\nA|w(x)|5\nA|rrel(l)|6\nB|racq(l)|7\nB|w(x)|"
     "8\nB|rrel(l)|9\n",
     0, 0, "4-7", NULL, NULL},
    {"shared twice, released once",
     "A|racq(l)|1\nA|racq(l)|2\nA|rrel(l)|3\nA|w(x)|4\nA|rrel(l)|5\nB|acq(l)|6\nB|w(x)|7\nB|rel(l)|"
     "8\n",
     0, 0, "", NULL, NULL},
    {"shared at the start of the window",
     "A|racq(l)|1\nB|racq(l)|2\nB|w(x)|3\nB|rrel(l)|4\nA|w(z)|5\nA|rrel(l)|6\nC|acq(l)|7\nC|w(x)|"
     "8\nC|w(z)|9\nC|rel(l)|10\nA|w(x)|11\n",
     1, 0, "2-10 7-10", NULL, NULL},
    {"a semaphore as a lock",
     "M|post(s)|1\nA|wait(s)|2\nA|w(x)|3\nA|post(s)|4\nB|wait(s)|5\nB|w(x)|6\nB|post(s)|7\n", 0, 0,
     "", NULL, NULL},
    {"with two units",
     "M|post(s)|1\nM|post(s)|2\nA|wait(s)|3\nA|w(x)|4\nA|post(s)|5\nB|wait(s)|6\nB|w(x)|7\nB|post("
     "s)|8\n",
     0, 0, "3-6", NULL, NULL},
    {"a signal", "A|w(x)|1\nA|post(s)|2\nB|wait(s)|3\nB|w(x)|4\n", 0, 0, "", NULL, NULL},
    {"someone else's unit serves too",
     "C|post(s)|1\nA|w(x)|2\nA|post(s)|3\nB|wait(s)|4\nB|w(x)|5\n", 0, 0, "1-4", NULL, NULL},
    {"that unit is carried into the window",
     "C|post(s)|1\nA|w(x)|2\nA|post(s)|3\nB|wait(s)|4\nB|w(x)|5\n", 1, 0, "1-4", NULL, NULL},
    {"the unit was taken before the window",
     "C|post(s)|1\nD|wait(s)|2\nA|w(x)|3\nA|post(s)|4\nB|wait(s)|5\nB|w(x)|6\n", 2, 0, "", NULL,
     NULL},
    {"a read that nothing depends on", "A|w(y)|1\nA|w(x=1)|2\nB|r(x=1)|3\nB|w(y)|4\n", 0, 0, "1-2",
     "1-2", "0-3 1-2"},
    {"a branch depends on it", "A|w(y)|1\nA|w(x=1)|2\nB|r(x=1)|3\nB|branch()|4\nB|w(y)|5\n", 0, 0,
     "1-2", NULL, NULL},
    {"a fork depends on it", "A|w(y)|1\nA|w(x=1)|2\nB|r(x=1)|3\nB|fork(C)|4\nC|w(y)|5\n", 0, 0,
     "1-2", NULL, NULL},
    {"an opaque call depends on it", "A|w(y)|1\nA|w(x=1)|2\nB|r(x=1)|3\nB|mbegin(m:)|4\nB|w(y)|5\n",
     0, 0, "1-2", NULL, NULL},
    {"its end does not",
     "A|w(y)|1\nA|w(x=1)|2\nB|mbegin(m:)|3\nB|r(x=1)|4\nB|mend(m)|5\nB|w(y)|6\n", 0, 0, "1-3",
     "1-3", "0-5 1-3"},
    {"what a diverged thread writes is unknown",
     "A|w(y=0)|1\nA|w(x=1)|2\nB|r(x=1)|3\nB|w(u=1)|4\nC|r(u=1)|5\nC|branch()|6\nC|w(y=2)|7\n", 0, 0,
     "1-2 3-4", NULL, NULL},
    {"who reads that diverges too",
     "A|w(y=0)|1\nA|w(x=1)|2\nB|r(x=1)|3\nB|w(u=1)|4\nC|r(u=1)|5\nC|w(y=2)|6\n", 0, 0, "1-2 3-4",
     "1-2 3-4", "0-5 1-2 3-4"},
    {"an update that diverges writes something unknown",
     "A|w(y=0)|1\nA|w(x=1)|2\nB|au(x=1>3)|3\nC|r(x=3)|4\nC|branch()|5\nC|w(y=2)|6\n", 0, 0,
     "1-2 1-3 2-3", NULL, NULL},
    {"a variable by source may diverge", "A|w(y)|1\nA|w(x)|2\nB|r(x)|3\nB|w(y)|4\n", 0, 0, "1-2",
     "1-2", "0-3 1-2"},
    {"calls with a common element",
     "A|mbegin(m:o)|1\nA|w(x)|2\nA|mend(m)|3\nB|mbegin(n:p,o)|4\nB|w(x)|5\nB|mend(n)|6\n", 0, 0, "",
     NULL, NULL},
    {"calls without",
     "A|mbegin(m:o)|1\nA|w(x)|2\nA|mend(m)|3\nB|mbegin(n:p)|4\nB|w(x)|5\nB|mend(n)|6\n", 0, 0,
     "1-4", NULL, NULL},
    {"after the calls",
     "A|mbegin(m:o)|1\nA|mend(m)|2\nA|w(x)|3\nB|mbegin(n:o)|4\nB|mend(n)|5\nB|w(x)|6\n", 0, 0,
     "2-5", NULL, NULL},
    {"calls that overlap: between the event and the end of the other",
     "A|mbegin(m:o)|1\nB|mbegin(n:o)|2\nA|w(x)|3\nB|w(y)|4\nA|mend(m)|5\nB|w(x)|6\nB|mend(n)|7\n",
     0, 0, "", NULL, NULL},
    {"a call within a call counts for its own elements too",
     "A|mbegin(m:o)|1\nA|mbegin(i:p)|2\nA|w(x)|3\nA|mend(i)|4\nA|mend(m)|5\nB|mbegin(n:p)|6\nB|w(x)"
     "|7\n",
     0, 0, "", NULL, NULL},
    {"a lock that the call can reach",
     "A|w(x)|1\nA|mbegin(m:l)|2\nA|mend(m)|3\nB|acq(l)|4\nB|w(x)|5\nB|rel(l)|6\n", 0, 0, "", NULL,
     NULL},
    {"another lock", "A|w(x)|1\nA|mbegin(m:l)|2\nA|mend(m)|3\nB|acq(k)|4\nB|w(x)|5\nB|rel(k)|6\n",
     0, 0, "0-4", NULL, NULL},
    {"a semaphore that the call can reach",
     "A|w(x)|1\nA|mbegin(m:s)|2\nA|mend(m)|3\nB|post(s)|4\nB|w(x)|5\n", 0, 0, "", NULL, NULL},
    {"a variable that the call can reach",
     "A|w(x)|1\nA|mbegin(m:y)|2\nA|mend(m)|3\nB|ar(y)|4\nB|w(x)|5\n", 0, 0, "", NULL, NULL},
    {"a thread that the call can reach begins",
     "A|w(x)|1\nA|mbegin(m:B)|2\nA|mend(m)|3\nB|w(x)|4\nB|w(q)|5\n", 0, 0, "", NULL, NULL},
    {"a thread that it cannot reach",
     "A|w(x)|1\nA|mbegin(m:C)|2\nA|mend(m)|3\nB|w(x)|4\nB|w(q)|5\n", 0, 0, "0-3", NULL, NULL},
    {"a thread that the call can reach ends",
     "B|w(q)|1\nB|w(x)|2\nA|mbegin(m:B)|3\nA|mend(m)|4\nA|w(x)|5\n", 0, 0, "", NULL, NULL},
    {"what is not its end",
     "B|w(q)|1\nB|w(x)|2\nB|w(q)|3\nA|mbegin(m:B)|4\nA|mend(m)|5\nA|w(x)|6\n", 0, 0, "", NULL,
     NULL},
    {"an end after the call",
     "B|w(q)|1\nB|w(x)|2\nA|mbegin(m:B)|3\nA|mend(m)|4\nA|w(x)|5\nB|w(q)|6\n", 0, 0, "1-4", NULL,
     NULL},
    {"a call that reaches everything", "A|w(x)|1\nA|mbegin(m:*)|2\nA|mend(m)|3\nB|w(x)|4\n", 0, 0,
     "", NULL, NULL},
    {"a call that reaches nothing", "A|w(x)|1\nA|mbegin(m:)|2\nA|mend(m)|3\nB|w(x)|4\n", 0, 0,
     "0-3", NULL, NULL},
    {"a call that never returns", "A|mbegin(m:x)|1\nA|w(q)|2\nB|w(x)|3\nA|w(x)|4\n", 0, 0, "", NULL,
     NULL},
    {"its twin that does", "A|mbegin(m:x)|1\nA|mend(m)|2\nB|w(x)|3\nA|w(x)|4\n", 0, 0, "2-3", NULL,
     NULL},
    {"a call that is open at the start of the window",
     "A|mbegin(m:x)|1\nA|w(q)|2\nB|w(x)|3\nA|w(x)|4\n", 1, 0, "", NULL, NULL},
    {"its twin that is over", "A|mbegin(m:x)|1\nA|mend(m)|2\nB|w(x)|3\nA|w(x)|4\n", 2, 0, "2-3",
     NULL, NULL},
};

static void print_races(const mr_exhaustive *search, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < search->race_count && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%" PRIu32 "-%" PRIu32, i ? " " : "",
                                 search->races[i].first, search->races[i].second);
}

/* Returns how many of the models are wrong. */
static int check_known(const known *k, int models)
{
    const char *expected[] = {k->rf, k->value, k->branch};
    mr_trace *trace = mr_sample_trace(k->text);
    assert_non_null(trace);
    int wrong = 0;
    for (int model = 0; model < models; model++) {
        mr_exhaustive search;
        char found[512];
        if (!expected[model])
            expected[model] = expected[model - 1];
        assert_true(mr_exhaustive_find(trace, (mr_model)model, k->start,
                                       k->end ? k->end : trace->event_count, &search));
        print_races(&search, found, sizeof found);
        if (strcmp(found, expected[model]) != 0) {
            print_error("%s, %s: found '%s', expected '%s'\n", k->name,
                        mr_model_name((mr_model)model), found, expected[model]);
            wrong++;
        }
        mr_exhaustive_free(&search);
    }
    mr_trace_free(trace);
    return wrong;
}

static void test_known_races(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        wrong += check_known(&plain[i], 2);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        wrong += check_known(&kinds[i], 3);
    assert_int_equal(wrong, 0);
}

/* Every reordering, one by one, without merging states: the definition at its word. */
typedef struct enumeration {
    const mr_trace *trace;
    mr_opaque opaque;
    mr_witness sequence;
    bool found[16][16];
} enumeration;

static void enumerate(enumeration *all)
{
    mr_witness *w = &all->sequence;
    for (w->first = w->window_start; w->first < w->window_end; w->first++) {
        for (w->second = w->first + 1; w->second < w->window_end; w->second++) {
            if (!all->found[w->first][w->second])
                all->found[w->first][w->second] = mr_definition_accepts(all->trace, w, all->opaque);
        }
    }
    uint32_t place = w->event_count++;
    for (uint32_t e = w->window_start; e < w->window_end; e++) {
        w->events[place] = e;
        if (mr_definition_reordering(all->trace, w, all->opaque))
            enumerate(all);
    }
    w->event_count = place;
}

static void compare_with_definition(const char *text, const mr_exhaustive_options *options,
                                    uint32_t start)
{
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    uint32_t end = trace->event_count < start + 7 ? trace->event_count : start + 7;
    uint32_t events[16];
    enumeration all = {
        .trace = trace,
        .opaque = options->opaque,
        .sequence = {
            .model = options->model, .window_start = start, .window_end = end, .events = events}};
    enumerate(&all);
    mr_exhaustive search;
    assert_true(mr_exhaustive_find_with(trace, options, start, end, &search));
    for (uint32_t a = start; a < end; a++) {
        for (uint32_t b = a + 1; b < end; b++) {
            if (all.found[a][b] != mr_exhaustive_has(&search, a, b))
                fail_msg(
                    "%s, opaque %d: %" PRIu32 "-%" PRIu32 " in [%" PRIu32 ", %" PRIu32 "):\n%s",
                    mr_model_name(options->model), (int)options->opaque, a, b, start, end, text);
        }
    }
    mr_exhaustive_free(&search);
    mr_trace_free(trace);
}

static void test_same_as_the_definition(void **state)
{
    (void)state;
    const uint64_t step = mr_length("EXHAUSTIVE_STEP", 2, 1);
    for (uint64_t seed = 0; seed < 72; seed += step) {
        int first_shape = seed < 18 ? 0 : MR_SHAPE_COUNT;
        for (int shape = first_shape; shape < MR_SHAPE_ALL; shape++) {
            char *text = mr_generate_trace(seed + 1000, (mr_shape)shape);
            assert_non_null(text);
            mr_exhaustive_options options = {.model = (mr_model)(seed % 3),
                                             .opaque = (mr_opaque)(seed / 3 % 3)};
            compare_with_definition(text, &options, seed / 2 % 5);
            free(text);
        }
    }
}

/* Every race has a witness that the checker accepts; returns the number of races. */
static size_t check_witnesses(mr_checker *checker, const mr_exhaustive *search, const char *text)
{
    for (size_t i = 0; i < search->race_count; i++) {
        mr_witness witness;
        mr_error error = {0};
        assert_true(mr_exhaustive_witness(search, i, &witness));
        if (mr_checker_check(checker, &witness, &error) != MR_OK)
            fail_msg("%" PRIu32 "-%" PRIu32 ": %s\n%s", witness.first, witness.second, error.text,
                     text);
        mr_witness_free(&witness);
    }
    return search->race_count;
}

static void assert_contained(const mr_exhaustive *small, const mr_exhaustive *big, const char *text)
{
    for (size_t i = 0; i < small->race_count; i++) {
        if (!mr_exhaustive_has(big, small->races[i].first, small->races[i].second))
            fail_msg("%" PRIu32 "-%" PRIu32 " is lost:\n%s", small->races[i].first,
                     small->races[i].second, text);
    }
}

typedef struct totals {
    size_t races[3], conflicts; /* by model */
    size_t simple, ignore;      /* races in the model value */
} totals;

static void search(const mr_trace *trace, mr_model model, mr_opaque opaque, uint32_t start,
                   uint32_t end, mr_exhaustive *found)
{
    mr_exhaustive_options options = {.model = model, .opaque = opaque};
    assert_true(mr_exhaustive_find_with(trace, &options, start, end, found));
}

/* races(rf) ⊆ races(value) ⊆ races(branch), window ⊆ whole trace, every witness is accepted. */
static void check_models(const mr_trace *trace, mr_opaque opaque, uint32_t start, uint32_t end,
                         const char *text, size_t *races)
{
    mr_checker *checker = mr_checker_new(trace, opaque);
    assert_non_null(checker);
    mr_exhaustive found[3], whole, preserving;
    for (int model = 0; model < 3; model++) {
        search(trace, (mr_model)model, opaque, start, end, &found[model]);
        races[model] += check_witnesses(checker, &found[model], text);
        if (model)
            assert_contained(&found[model - 1], &found[model], text);
    }
    search(trace, MR_MODEL_BRANCH, opaque, 0, trace->event_count, &whole);
    assert_contained(&found[MR_MODEL_BRANCH], &whole, text);
    mr_exhaustive_options options = {
        .model = MR_MODEL_RF, .opaque = opaque, .sync_preserving = true};
    assert_true(mr_exhaustive_find_with(trace, &options, start, end, &preserving));
    assert_contained(&preserving, &found[MR_MODEL_RF], text);
    for (int model = 0; model < 3; model++)
        mr_exhaustive_free(&found[model]);
    mr_exhaustive_free(&whole);
    mr_exhaustive_free(&preserving);
    mr_checker_free(checker);
}

/* races(simple) ⊆ races(pair) ⊆ races(ignore). */
static void check_modes(const mr_trace *trace, const char *text, totals *sum)
{
    mr_exhaustive found[3];
    uint32_t count = trace->event_count;
    for (int mode = 0; mode < 3; mode++)
        search(trace, MR_MODEL_VALUE, (mr_opaque)mode, 0, count, &found[mode]);
    assert_contained(&found[MR_OPAQUE_SIMPLE], &found[MR_OPAQUE_PAIR], text);
    assert_contained(&found[MR_OPAQUE_PAIR], &found[MR_OPAQUE_IGNORE], text);
    sum->simple += found[MR_OPAQUE_SIMPLE].race_count;
    sum->ignore += found[MR_OPAQUE_IGNORE].race_count;
    for (int mode = 0; mode < 3; mode++)
        mr_exhaustive_free(&found[mode]);
}

static void check_trace(const char *text, uint64_t seed, totals *sum)
{
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    uint32_t count = trace->event_count;
    check_models(trace, (mr_opaque)(seed / 6 % 3), seed % 3, count - seed % 2, text, sum->races);
    check_modes(trace, text, sum);
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = a + 1; b < count; b++)
            sum->conflicts += mr_exhaustive_conflict(trace, a, b);
    }
    mr_trace_free(trace);
}

static void check_shapes(int first_shape, int last_shape, totals *sum)
{
    const uint64_t step = mr_length("EXHAUSTIVE_STEP", 2, 1);
    for (uint64_t seed = 0; seed < 72; seed += step) {
        for (int shape = first_shape; shape < last_shape; shape++) {
            char *text = mr_generate_trace(seed, (mr_shape)shape);
            assert_non_null(text);
            check_trace(text, seed, sum);
            free(text);
        }
    }
    /* The traces are worth something: both answers are frequent, and the models differ. */
    size_t rf = sum->races[MR_MODEL_RF], value = sum->races[MR_MODEL_VALUE];
    assert_true(rf > 500 && rf * 10 < sum->conflicts * 9);
    assert_true(value > rf && sum->races[MR_MODEL_BRANCH] > value);
}

static void test_containments_and_witnesses(void **state)
{
    (void)state;
    totals without = {0}, with = {0};
    check_shapes(0, MR_SHAPE_COUNT, &without);
    check_shapes(MR_SHAPE_COUNT, MR_SHAPE_ALL, &with);
    assert_true(without.simple == without.ignore && with.simple * 16 < with.ignore * 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_races),
        cmocka_unit_test(test_same_as_the_definition),
        cmocka_unit_test(test_containments_and_witnesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
