/* Writes that critical sections hide from reads: by hand, and against what reads see in exhaustive search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/setup.h"
#include "windows/hidden.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Is the write, of the trace, hidden from the read? */
typedef struct row {
    const char *name, *text;
    uint32_t start, write, read;
    bool value, branch;
} row;

#define SECTION(t, body) #t "|acq(l)|1\n" body #t "|rel(l)|1\n"
#define READER(t, body)  #t "|racq(l)|1\n" body #t "|rrel(l)|1\n"

static const row rows[] = {
    {"the last write of a section", SECTION(A, "A|w(x=1)|1\n") SECTION(B, "B|r(x=1)|1\n"), 0, 1, 4,
     false, false},
    {"one that its section overwrites",
     SECTION(A, "A|w(x=1)|1\nA|w(x=2)|1\n") SECTION(B, "B|r(x=2)|1\n"), 0, 1, 5, true, true},
    {"… by the same value", SECTION(A, "A|w(x=1)|1\nA|w(x=1)|1\n") SECTION(B, "B|r(x=1)|1\n"), 0, 1,
     5, true, true},
    {"a reader that has written before in its section",
     SECTION(A, "A|w(x=1)|1\n") SECTION(B, "B|w(x=1)|1\nB|r(x=1)|1\n"), 0, 1, 5, true, true},
    {"… before its section", SECTION(A, "A|w(x=1)|1\n") "B|w(x=2)|1\n" SECTION(B, "B|r(x=2)|1\n"),
     0, 1, 5, false, false},
    {"a reader that has seen another value in its section",
     "C|w(x=1)|1\n" SECTION(B, "B|r(x=1)|1\nC|w(x=2)|1\nB|r(x=2)|1\n") SECTION(A, "A|w(x=2)|1\n"),
     0, 7, 4, true, false},
    {"… the same value",
     "C|w(x=2)|1\n" SECTION(B, "B|r(x=2)|1\nC|w(x=2)|1\nB|r(x=2)|1\n") SECTION(A, "A|w(x=2)|1\n"),
     0, 7, 4, false, false},
    {"a writer that sees another value later in its section",
     SECTION(A, "A|w(x=1)|1\nC|w(x=2)|1\nA|r(x=2)|1\n") SECTION(B, "B|r(x=2)|1\n"), 0, 1, 6, true,
     false},
    {"an update that sees another value",
     SECTION(A, "A|au(x=0>1)|1\n") SECTION(B, "B|au(x=1>2)|1\nB|ar(x=2)|1\n"), 0, 1, 5, true, true},
    {"a section that is not left", SECTION(B, "B|r(x=1)|1\n") "A|acq(l)|1\nA|w(x=1)|1\n", 0, 4, 1,
     true, true},
    {"a reader that holds the lock at the start",
     SECTION(B, "B|r(x=0)|1\n") SECTION(A, "A|w(x=0)|1\n"), 1, 4, 1, true, true},
    {"two shared sections",
     READER(A, "A|w(x=1)|1\nA|w(x=2)|1\n") READER(B, "B|r(x=2)|1\n") SECTION(C, ""), 0, 1, 5, false,
     false},
    {"a shared and an exclusive one",
     SECTION(A, "A|w(x=1)|1\nA|w(x=2)|1\n") READER(B, "B|r(x=2)|1\n"), 0, 1, 5, true, true},
    {"no section of the reader",
     SECTION(A, "A|w(x=1)|1\nA|w(x=2)|1\n") "B|r(x=2)|1\n" SECTION(B, ""), 0, 1, 4, false, false},
    {"two locks, of which one is given back before the other write",
     "A|acq(l)|1\nA|acq(m)|1\nA|w(x=1)|1\nA|rel(m)|1\nA|w(x=2)|1\nA|rel(l)|1\n"
     "B|acq(m)|1\nB|r(x=2)|1\nB|rel(m)|1\n" SECTION(B, ""),
     0, 2, 7, false, false},
    {"the same thread",
     SECTION(A, "A|w(x=1)|1\nA|w(x=2)|1\nA|r(x=2)|1\n") SECTION(B, "B|r(x=2)|1\n"), 0, 1, 3, false,
     false},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        mr_setup setup;
        mr_setup_open(&setup, r->text);
        for (int model = MR_MODEL_VALUE; model <= MR_MODEL_BRANCH; model++) {
            mr_setup_window(&setup, r->start, setup.trace->event_count, (mr_model)model);
            bool hidden = mr_write_is_hidden(setup.window, r->write - r->start, r->read - r->start);
            if (hidden != (model == MR_MODEL_VALUE ? r->value : r->branch))
                fail_msg("%s, %s: %d", r->name, mr_model_name((mr_model)model), hidden);
        }
        mr_setup_window(&setup, r->start, setup.trace->event_count, MR_MODEL_RF);
        assert_null(setup.window->hidden);
        mr_setup_close(&setup);
    }
}

/* Locks without a bit hide nothing; those with most sections have one. */
static void test_many_locks(void **state)
{
    enum { LOCKS = 70, WITHOUT = 68, LINE = 16 };
    static const char *const bodies[] = {"A|w(y=1)|1\nA|w(y=2)|1\n", "B|r(y=2)|1\n"};
    (void)state;
    char text[(LOCKS * 2 + 8) * 2 * LINE] = "";
    size_t length = 0;
    for (int thread = 'A'; thread <= 'B'; thread++)
        for (int l = 0; l < LOCKS; l++)
            length += (size_t)sprintf(text + length, "%c|acq(l%d)|1\n%s%c|rel(l%d)|1\n", thread, l,
                                      l == WITHOUT ? bodies[thread - 'A'] : "", thread, l);
    sprintf(text + length, "A|acq(l69)|1\nA|w(x=1)|1\nA|w(x=2)|1\nA|rel(l69)|1\n"
                           "B|acq(l69)|1\nB|r(x=2)|1\nB|rel(l69)|1\n");
    mr_setup setup;
    mr_setup_open(&setup, text);
    mr_setup_window(&setup, 0, setup.trace->event_count, MR_MODEL_VALUE);
    const uint32_t b = 2 * LOCKS + 2;        /* B's first event */
    const uint32_t last = b + 2 * LOCKS + 1; /* the section of A at the end */
    assert_false(mr_write_is_hidden(setup.window, 2 * WITHOUT + 1, b + 2 * WITHOUT + 1));
    assert_true(mr_write_is_hidden(setup.window, last + 1, last + 5));
    mr_setup_close(&setup);
}

/* The write that the last event of a path sees; MR_NONE: none of the window. */
static uint32_t seen(const mr_window *w, const mr_witness *path, uint32_t read)
{
    uint32_t write = MR_NONE;
    for (uint32_t i = 0; i + 1 < path->event_count; i++) {
        uint32_t event = path->events[i] - w->start;
        if (mr_op_writes(mr_window_op(w, event)) && w->object[event] == w->object[read])
            write = event;
    }
    return write;
}

static void check_states(const mr_setup *setup, const mr_exhaustive *search, const char *text)
{
    const mr_window *w = setup->window;
    for (size_t state = 1; state < search->state_count; state++) {
        mr_witness path;
        assert_true(mr_exhaustive_path(search, state, 0, 0, &path));
        uint32_t read = path.events[path.event_count - 1] - w->start;
        uint32_t write = mr_op_reads(mr_window_op(w, read)) ? seen(w, &path, read) : MR_NONE;
        if (write != MR_NONE && mr_write_is_hidden(w, write, read))
            fail_msg(
                "%" PRIu32 " is not hidden from %" PRIu32 " in [%" PRIu32 ", %" PRIu32 "), %s:\n%s",
                w->start + write, w->start + read, w->start, w->end, mr_model_name(w->model), text);
        mr_witness_free(&path);
    }
}

/* Pairs of a read and a write of its value that is hidden from it. */
static size_t count_hidden(const mr_window *w)
{
    size_t count = 0;
    for (uint32_t r = 0; r < w->size; r++)
        for (uint32_t s = 0; s < w->size; s++)
            count += mr_op_reads(mr_window_op(w, r)) && mr_op_writes(mr_window_op(w, s)) &&
                     w->object[r] == w->object[s] &&
                     mr_window_read_value(w, r) == mr_window_written_value(w, s) &&
                     mr_write_is_hidden(w, s, r);
    return count;
}

static void test_random_traces(void **state)
{
    (void)state;
    size_t hidden = 0;
    for (uint64_t seed = 0; seed < 120; seed++)
        for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
            char *text = mr_generate_trace(seed + 77000, (mr_shape)shape);
            mr_setup setup;
            assert_non_null(text);
            mr_setup_open(&setup, text);
            uint32_t count = setup.trace->event_count, start = seed % 2 ? count / 4 : 0;
            for (int model = MR_MODEL_VALUE; model <= MR_MODEL_BRANCH; model++) {
                mr_exhaustive search;
                mr_setup_window(&setup, start, count, (mr_model)model);
                assert_true(
                    mr_exhaustive_find(setup.trace, (mr_model)model, start, count, &search));
                check_states(&setup, &search, text);
                hidden += count_hidden(setup.window);
                mr_exhaustive_free(&search);
            }
            mr_setup_close(&setup);
            free(text);
        }
    assert_true(hidden > 100); /* the soundness of nothing would say nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_many_locks),
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
