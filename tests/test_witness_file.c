/* Witness files: round trip, files written by hand, one wrong file per way to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/sample.h"
#include "support/trace_reading.h"
#include "witness/checker.h"
#include "witness/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char sample[] = "# first line\n"
                             "A|w(x=1)|1\n"           /* 0, line 2 */
                             "A|acq(l)|2\n"           /* 1 */
                             "A|w(y[0].f=-1)|f.c:3\n" /* 2 */
                             "A|rel(l)|4\n"           /* 3 */
                             "A|fork(B)|5\n"          /* 4 */
                             "B|begin()|6\n"          /* 5 */
                             "B|r(y[0].f=-1)|\n"      /* 6 */
                             "B|w(z)|a|b\n"           /* 7 */
                             "A|w(z)|9\n";            /* 8, line 10 */

static mr_status read_witness(const char *text, size_t length, const mr_trace *trace,
                              mr_model model, bool force, mr_witness *witness, mr_error *error)
{
    char *path = mr_test_file(text, length);
    mr_status status = mr_witness_read(path, trace, model, force, witness, error);
    if (error->file[0])
        assert_string_equal(error->file, path);
    assert_int_equal(unlink(path), 0);
    free(path);
    return status;
}

/* The witness as text, owned by the caller. */
static char *write_text(const mr_trace *trace, const mr_witness *witness)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_true(mr_witness_write(stream, trace, witness));
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void test_written_text(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    assert_non_null(trace);
    uint32_t events[] = {1, 2, 3, 4, 5, 6};
    mr_witness witness = {.first = 7,
                          .second = 8,
                          .window_start = 1,
                          .window_end = 9,
                          .model = MR_MODEL_VALUE,
                          .events = events,
                          .event_count = 6};
    char *text = write_text(trace, &witness);
    assert_string_equal(text, "#@witness 1\n#@trace sample.std\n#@model value\n#@window 1 9\n"
                              "#@first 7 9\n#@second 8 10\n"
                              "A|acq(l)|2\nA|w(y[0].f=-1)|f.c:3\nA|rel(l)|4\nA|fork(B)|5\n"
                              "B|begin()|6\nB|r(y[0].f=-1)|\nB|w(z)|a|b\nA|w(z)|9\n");
    free(text);
    mr_trace_free(trace);
}

static void assert_same(const mr_witness *a, const mr_witness *b)
{
    assert_int_equal(a->first, b->first);
    assert_int_equal(a->second, b->second);
    assert_int_equal(a->window_start, b->window_start);
    assert_int_equal(a->window_end, b->window_end);
    assert_int_equal(a->model, b->model);
    assert_int_equal(a->event_count, b->event_count);
    assert_memory_equal(a->events, b->events, a->event_count * sizeof *a->events);
}

static void round_trip(const mr_trace *trace, const mr_witness *witness)
{
    char *text = write_text(trace, witness);
    mr_witness read;
    mr_error error = {0};
    mr_model other = witness->model == MR_MODEL_RF ? MR_MODEL_VALUE : MR_MODEL_RF;
    if (read_witness(text, strlen(text), trace, other, false, &read, &error) != MR_OK)
        fail_msg("line %" PRIu64 ": %s\n%s", error.line, error.text, text);
    assert_same(witness, &read);
    mr_witness_free(&read);
    if (witness->window_start == 0) { /* what is listed is then an execution of its own */
        mr_trace *as_trace = mr_sample_trace(text);
        assert_non_null(as_trace);
        assert_int_equal(as_trace->event_count, witness->event_count + 2);
        mr_trace_free(as_trace);
    }
    free(text);
}

static void test_round_trip(void **state)
{
    (void)state;
    size_t count = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
            char *text = mr_generate_trace(seed, (mr_shape)shape);
            assert_non_null(text);
            mr_trace *trace = mr_sample_trace(text);
            assert_non_null(trace);
            mr_exhaustive search;
            mr_model model = (mr_model)(seed / 3 % 3);
            assert_true(mr_exhaustive_find(trace, model, seed % 3, trace->event_count, &search));
            for (size_t i = 0; i < search.race_count; i++, count++) {
                mr_witness witness;
                assert_true(mr_exhaustive_witness(&search, i, &witness));
                round_trip(trace, &witness);
                mr_witness_free(&witness);
            }
            mr_exhaustive_free(&search);
            mr_trace_free(trace);
            free(text);
        }
    }
    assert_true(count > 200);
}

/* Files that are read; what the header leaves out has its default. */
typedef struct readable {
    const char *text;
    mr_model default_model;
    bool force;
    mr_model model;
    uint32_t start, end, first, second, event_count;
} readable;

#define UP_TO_READ                                                                                 \
    "A|w(x=1)|1\nA|acq(l)|2\nA|w(y[0].f=-1)|f.c:3\nA|rel(l)|4\nA|fork(B)|5\nB|begin()|6\n"

static const readable readables[] = {
    {UP_TO_READ "B|r(y[0].f=-1)|\nA|w(z)|9\nB|w(z)|a|b\n", MR_MODEL_RF, false, MR_MODEL_RF, 0, 9, 7,
     8, 7},
    {"\xEF\xBB\xBF" UP_TO_READ "B|r(y[0].f=-1)|\r\n\r\n# comment\nA|w(z)|9\r\nB|w(z)|a|b",
     MR_MODEL_VALUE, false, MR_MODEL_VALUE, 0, 9, 7, 8, 7},
    {UP_TO_READ "B|r(y[0].f=-0001)|\n", MR_MODEL_RF, false, MR_MODEL_RF, 0, 7, 5, 6, 5},
    {"#@window 5 9\nB|begin(what ever)|6\nB|r(y[0].f=-1)|\nB|w(z)|a|b\nA|w(z)|9\n", MR_MODEL_RF,
     false, MR_MODEL_RF, 5, 9, 7, 8, 2},
    {"#@model rf\n#@window\t5  9 \n#@second 8 "
     "10\nB|begin()|6\nB|r(y[0].f=-1)|\nB|w(z)|a|b\nA|w(z)|9\n",
     MR_MODEL_VALUE, false, MR_MODEL_RF, 5, 9, 7, 8, 2},
    {"#@model rf\n#@window 5 9\nB|begin()|6\nB|r(y[0].f=-1)|\nB|w(z)|a|b\nA|w(z)|9\n",
     MR_MODEL_VALUE, true, MR_MODEL_VALUE, 5, 9, 7, 8, 2},
};

static void test_readable(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    assert_non_null(trace);
    for (size_t i = 0; i < sizeof readables / sizeof *readables; i++) {
        const readable *x = &readables[i];
        mr_witness w;
        mr_error error = {0};
        mr_status status =
            read_witness(x->text, strlen(x->text), trace, x->default_model, x->force, &w, &error);
        if (status != MR_OK)
            fail_msg("file %zu, line %" PRIu64 ": %s", i, error.line, error.text);
        assert_int_equal(w.model, x->model);
        assert_int_equal(w.window_start, x->start);
        assert_int_equal(w.window_end, x->end);
        assert_int_equal(w.first, x->first);
        assert_int_equal(w.second, x->second);
        assert_int_equal(w.event_count, x->event_count);
        mr_witness_free(&w);
    }
    mr_trace_free(trace);
}

/* A long witness is written in runs; one event of another thread stands between two of them. */
static void test_runs(void **state)
{
    (void)state;
    enum { LENGTH = 6000 };
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    for (int i = 0; i < LENGTH; i++)
        fprintf(stream, i == 3000 ? "B|w(y)|2\n" : "A|w(x)|1\n");
    fputs("A|w(z)|3\nB|w(z)|4\n", stream);
    assert_int_equal(fclose(stream), 0);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    free(text);
    uint32_t events[LENGTH];
    for (uint32_t i = 0; i < LENGTH; i++)
        events[i] = i < 3000 ? i : i < LENGTH - 1 ? i + 1 : 3000;
    mr_witness witness = {.first = LENGTH,
                          .second = LENGTH + 1,
                          .window_end = LENGTH + 2,
                          .events = events,
                          .event_count = LENGTH};
    text = write_text(trace, &witness);
    assert_string_equal(text, "#@witness 2\n#@trace sample.std\n#@model rf\n#@window 0 6002\n"
                              "#@first 6000 6001\n#@second 6001 6002\n"
                              "#@run 0 2999\n#@run 3001 5999\nB|w(y)|2\nA|w(z)|3\nB|w(z)|4\n");
    mr_witness read;
    mr_error error = {0};
    assert_int_equal(read_witness(text, strlen(text), trace, MR_MODEL_VALUE, false, &read, &error),
                     MR_OK);
    assert_same(&witness, &read);
    mr_witness_free(&read);
    free(text);
    mr_trace_free(trace);
}

typedef struct unreadable {
    const char *text;
    uint64_t line;
    const char *expected;
} unreadable;

static const unreadable unreadables[] = {
    {"", 0, "0 event lines; the last two lines must be the two accesses"},
    {"#@witness 1\nA|w(x=1)|1\n", 2, "1 event lines; the last two lines must be the two accesses"},
    {"#@witness 3\n", 1, "witness format 3; this version of maxrace reads formats 1 and 2"},
    {"#@run 0\n", 1, "expected #@run FIRST LAST"},
    {"#@run 3 2\n", 1, "no events 3 to 2 in the trace from event 0 on; it has 9 events"},
    {"#@run 3 9\n", 1, "no events 3 to 9 in the trace from event 0 on; it has 9 events"},
    {"#@window 4 9\n#@run 3 4\n", 2,
     "no events 3 to 4 in the trace from event 4 on; it has 9 events"},
    {"#@run 0 1\n#@run 3 3\n", 2, "event 3 is not the next one of its thread"},
    {"#@run 0 1\n#@run 1 2\n", 2, "event 1 is not the next one of its thread"},
    {"#@run 0 1\n#@model rf\n", 2, "#@model must come before the first event"},
    {"#@witness one\n", 1, "expected #@witness VERSION"},
    {"#@witness\n", 1, "expected #@witness VERSION"},
    {"#@model hb\n", 1, "unknown model 'hb'; expected rf, value or branch"},
    {"#@model\n", 1, "unknown model ''; expected rf, value or branch"},
    {"#@window 3\n", 1, "expected #@window START END"},
    {"#@window 0 9 9\n", 1, "expected #@window START END"},
    {"#@window -1 9\n", 1, "expected #@window START END"},
    {"#@window 0 99999999999999999999\n", 1, "expected #@window START END"},
    {"#@window 0 10\n", 1, "window [0, 10) is not part of the trace, which has 9 events"},
    {"#@window 4 3\n", 1, "window [4, 3) is not part of the trace, which has 9 events"},
    {"#@first 7\n", 1, "expected #@first EVENT LINE"},
    {"#@second x 3\n", 1, "expected #@second EVENT LINE"},
    {"#@first 9 11\n", 1, "no event 9 in the trace, which has 9 events"},
    {"#@first 7 8\n", 1,
     "event 7 is on line 9 of the trace, not on line 8; is this the right trace?"},
    {"#@model rf\n#@model rf\n", 2, "#@model is given twice"},
    {"A|w(x=1)|1\n#@window 0 9\n", 2, "#@window must come before the first event"},
    {"A w(x=1) 1\n", 1, NULL},
    {"A|write(x=1)|1\n", 1, NULL},
    {"A|post(s)|1\n", 1,
     "expected A|w(x=1)|1, event 0 of the trace (line 2): a thread's lines are its next events in "
     "the trace"},
    {"C|w(x=1)|1\n", 1, "no thread 'C' in the trace"},
    {"#@window 5 9\nB|begin()|6\nB|r(y[0].f=-1)|\nB|w(z)|a|b\nB|w(z)|a|b\n", 5,
     "thread 'B' has no more events in the trace"},
    {"A|r(x=1)|1\n", 1,
     "expected A|w(x=1)|1, event 0 of the trace (line 2): a thread's lines are its next events in "
     "the "
     "trace"},
    {"A|w(y=1)|1\n", 1,
     "expected A|w(x=1)|1, event 0 of the trace (line 2): a thread's lines are its next events in "
     "the "
     "trace"},
    {"A|w(x=2)|1\n", 1,
     "expected A|w(x=1)|1, event 0 of the trace (line 2): a thread's lines are its next events in "
     "the "
     "trace"},
    {"A|w(x)|1\n", 1,
     "expected A|w(x=1)|1, event 0 of the trace (line 2): a thread's lines are its next events in "
     "the "
     "trace"},
    {"A|w(x=1)|2\n", 1,
     "expected A|w(x=1)|1, event 0 of the trace (line 2): a thread's lines are its next events in "
     "the "
     "trace"},
    {"A|w(x=1)|1\nA|acq(k)|2\n", 2,
     "expected A|acq(l)|2, event 1 of the trace (line 3): a thread's lines are its next events in "
     "the "
     "trace"},
    {"#@window 4 9\nA|fork(A)|5\n", 2,
     "expected A|fork(B)|5, event 4 of the trace (line 6): a thread's lines are its next events in "
     "the "
     "trace"},
    {"#@window 5 9\n#@first 6 8\nB|begin()|6\nB|r(y[0].f=-1)|\nB|w(z)|a|b\nA|w(z)|9\n", 6,
     "#@first names event 6, but the last two lines are events 7 and 8"},
    {"#@window 5 9\n#@second 7 9\nB|begin()|6\nB|r(y[0].f=-1)|\nB|w(z)|a|b\nA|w(z)|9\n", 6,
     "#@second names event 7, but the last two lines are events 7 and 8"},
};

static void test_unreadable(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    assert_non_null(trace);
    int wrong = 0;
    for (size_t i = 0; i < sizeof unreadables / sizeof *unreadables; i++) {
        const unreadable *x = &unreadables[i];
        mr_witness w;
        mr_error error = {0};
        mr_status status =
            read_witness(x->text, strlen(x->text), trace, MR_MODEL_RF, false, &w, &error);
        if (status != MR_ERR_TRACE || error.line != x->line || !error.file[0] ||
            (x->expected && strcmp(error.text, x->expected) != 0)) {
            print_error("file %zu: status %d, line %" PRIu64 "\n  found    %s\n  expected %s\n", i,
                        status, error.line, error.text, x->expected);
            wrong++;
        }
        if (status == MR_OK)
            mr_witness_free(&w);
    }
    assert_int_equal(wrong, 0);
    mr_trace_free(trace);
}

/* A line must say the event of the trace to the letter, whatever its operation. */
static void test_every_operation(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "A|au(x=1>2)|1\n", "A|mbegin(m:x,T1,*)|2\n", "A|ar(x=2)|3\n", "A|racq(l)|4\n",
        "A|rrel(l)|5\n",   "A|mend(m)|6\n",          "A|post(s)|7\n", "A|wait(s)|8\n",
        "A|branch()|9\n",  "A|mbegin(n:)|10\n",      "A|aw(y)|11\n",  "A|w(z)|12\n",
    };
    static const struct {
        size_t line;
        const char *text;
    } wrong[] = {
        {0, "A|au(x=1>3)|1\n"},
        {0, "A|au(x=2>2)|1\n"},
        {0, "A|au(x)|1\n"},
        {0, "A|ar(x=1)|1\n"},
        {1, "A|mbegin(n:x,T1,*)|2\n"},
        {1, "A|mbegin(m:x,T1)|2\n"},
        {1, "A|mbegin(m:x,T1,*,y)|2\n"},
        {1, "A|mbegin(m:x,*,T1)|2\n"},
        {2, "A|r(x=2)|3\n"},
        {2, "A|ar(x=3)|3\n"},
        {3, "A|racq(k)|4\n"},
        {3, "A|acq(l)|4\n"},
        {5, "A|mend(n)|6\n"},
        {6, "A|post(t)|7\n"},
        {8, "A|end()|9\n"},
        {9, "A|mbegin(n:x)|10\n"},
        {10, "A|aw(y=1)|11\n"},
    };
    size_t count = sizeof lines / sizeof *lines;
    char text[1024] = "";
    for (size_t i = 0; i < count; i++)
        strcat(text, lines[i]);
    strcat(text, "B|w(z)|13\n");
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mr_witness w;
    mr_error error = {0};
    assert_int_equal(read_witness(text, strlen(text), trace, MR_MODEL_RF, false, &w, &error),
                     MR_OK);
    mr_witness_free(&w);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        text[0] = '\0';
        for (size_t k = 0; k < count; k++)
            strcat(text, k == wrong[i].line ? wrong[i].text : lines[k]);
        assert_int_equal(read_witness(text, strlen(text), trace, MR_MODEL_RF, false, &w, &error),
                         MR_ERR_TRACE);
        assert_int_equal(error.line, wrong[i].line + 1);
    }
    mr_trace_free(trace);
}

static void test_no_file_and_no_text(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    assert_non_null(trace);
    mr_witness w;
    mr_error error = {0};
    assert_int_equal(mr_witness_read("/tmp/no/such/file", trace, MR_MODEL_RF, false, &w, &error),
                     MR_ERR_IO);
    assert_string_equal(error.file, "/tmp/no/such/file");
    const char binary[] = "A|w(x\0=1)|1\n";
    assert_int_equal(read_witness(binary, sizeof binary - 1, trace, MR_MODEL_RF, false, &w, &error),
                     MR_ERR_TRACE);
    assert_string_equal(error.text, "NUL byte; a witness is a text file");
    size_t size = 3u << 20; /* one line, longer than any that the reader takes */
    char *big = mr_malloc(size, 0);
    assert_non_null(big);
    memset(big, 'x', size);
    assert_int_equal(read_witness(big, size, trace, MR_MODEL_RF, false, &w, &error), MR_ERR_TRACE);
    assert_int_equal(error.line, 1);
    free(big);
    mr_trace_free(trace);
}

static void test_full_disk(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    assert_non_null(trace);
    uint32_t events[] = {0};
    mr_witness witness = {.first = 7,
                          .second = 8,
                          .window_start = 0,
                          .window_end = 9,
                          .model = MR_MODEL_RF,
                          .events = events,
                          .event_count = 1};
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        setvbuf(full, NULL, _IONBF, 0);
        assert_false(mr_witness_write(full, trace, &witness));
        fclose(full);
    }
    mr_trace_free(trace);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    assert_non_null(trace);
    char *path = mr_test_file(readables[0].text, strlen(readables[0].text));
    mr_status status = MR_ERR_MEMORY;
    for (uint64_t n = 1; status == MR_ERR_MEMORY; n++) {
        mr_witness w;
        mr_error error = {0};
        mr_memory_fail_after(n);
        status = mr_witness_read(path, trace, MR_MODEL_RF, false, &w, &error);
        mr_memory_fail_after(0);
        if (status == MR_OK)
            mr_witness_free(&w);
        assert_true(n < 100);
    }
    assert_int_equal(status, MR_OK);
    assert_int_equal(unlink(path), 0);
    free(path);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_text),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_readable),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_no_file_and_no_text),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
