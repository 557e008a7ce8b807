/* Flags that are a lock together: which accesses hold it, and that two accesses that hold it are no race, in windows of random traces
 * against exhaustive search.
 *
 *   CROSSED_TRACES chooses how many */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/exhaustive.h"
#include "support/generate_crossed.h"
#include "support/generate_flags.h"
#include "support/length.h"
#include "support/random.h"
#include "support/setup.h"
#include "windows/lockset.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHARE_TRACES = 4000, TRACES = 20000 };

#define W(t, x, v) #t "|aw(" #x "=" #v ")|1\n"
#define R(t, x, v) #t "|ar(" #x "=" #v ")|1\n"
#define X(t)       #t "|w(x=5)|1\n"
#define READER     W(A, f, 1) R(A, g, 0) X(A) W(A, f, 0)
#define WRITER     W(B, g, 1) R(B, f, 0) X(B) W(B, g, 0)

/* Of each pair of writes of x by two threads: are they held apart? In the order of the trace, 'x' for yes. */
typedef struct row {
    const char *name, *text;
    uint32_t start;
    const char *apart;
} row;

static const row rows[] = {
    {"two flags", READER WRITER, 0, "x"},
    {"raised too late", R(B, f, 0) R(A, g, 0) W(A, f, 1) X(A) W(A, f, 0) WRITER, 0, "-"},
    {"one does not look", READER W(B, g, 1) X(B) W(B, g, 0) R(B, f, 0), 0, "-"},
    {"one sees the other one raised",
     W(A, f, 1) R(A, g, 0) X(A) W(B, g, 1) R(B, f, 1) X(B) W(A, f, 0) R(B, f, 0) W(B, g, 0)
         R(A, g, 0),
     0, "-"},
    {"looks twice", READER W(B, g, 1) R(B, f, 0) R(B, f, 0) X(B) W(B, g, 0), 0, "x"},
    {"after it is lowered", W(A, f, 1) R(A, g, 0) W(A, f, 0) X(A) WRITER, 0, "-"},
    {"another value in between", W(A, f, 1) R(A, g, 0) W(A, f, 2) X(A) W(A, f, 0) WRITER, 0, "x"},
    {"raised again", W(A, f, 1) R(A, g, 0) W(A, f, 0) W(A, f, 1) X(A) W(A, f, 0) WRITER, 0, "-"},
    {"a third thread lowers it", READER WRITER W(C, f, 0), 0, "-"},
    {"raised at the start", READER WRITER, 1, "x"},
    {"with what it saw before the start", READER WRITER, 2, "-"},
    {"by a spin lock",
     READER "B|au(g=0>1)|1\n" R(B, f, 0) X(B) W(B, g, 0) "C|au(g=0>1)|1\n" W(C, g, 0), 0, "x"},
    {"plain writes, which are data", READER WRITER "A|w(f=0)|1\n", 0, "--"},
    {"values that are not known", READER WRITER "A|aw(f)|1\n", 0, "-"},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_setup setup;
        mr_setup_open(&setup, rows[i].text);
        mr_setup_window(&setup, rows[i].start, setup.trace->event_count, MR_MODEL_VALUE);
        const mr_window *w = setup.window;
        char apart[8] = "";
        for (uint32_t b = 0, count = 0; b < w->size; b++)
            for (uint32_t a = 0; a < b; a++)
                if (w->thread[a] != w->thread[b] && mr_window_op(w, a) == MR_OP_WRITE &&
                    mr_window_op(w, b) == MR_OP_WRITE)
                    apart[count++] = mr_locksets_meet(w, w->lockset[a], w->lockset[b]) ? 'x' : '-';
        if (strcmp(apart, rows[i].apart) != 0)
            fail_msg("%s: '%s'", rows[i].name, apart);
        mr_setup_close(&setup);
    }
}

/* In the other models the values tell nothing. */
static void test_models(void **state)
{
    (void)state;
    for (mr_model model = MR_MODEL_RF; model <= MR_MODEL_BRANCH; model++) {
        mr_setup setup;
        mr_setup_open(&setup, rows[0].text);
        mr_setup_window(&setup, 0, setup.trace->event_count, model);
        const mr_window *w = setup.window;
        assert_int_equal(mr_locksets_meet(w, w->lockset[2], w->lockset[6]),
                         model == MR_MODEL_VALUE);
        mr_setup_close(&setup);
    }
}

/* Accesses whose lock sets meet are no race in a window by chance. Returns how many meet; `keeping`: of these, accesses of
 * what is kept. */
static uint32_t check_window(const char *text, uint64_t seed, uint32_t *keeping)
{
    uint32_t meetings = 0;
    mr_setup setup;
    mr_exhaustive races;
    mr_random random = {seed};
    mr_setup_open(&setup, text);
    uint32_t size = setup.trace->event_count;
    uint32_t start = mr_random_below(&random, 2) ? 0 : mr_random_below(&random, size / 2);
    uint32_t end = mr_random_below(&random, 2) ? size : mr_random_range(&random, start + 1, size);
    mr_setup_window(&setup, start, end, MR_MODEL_VALUE);
    assert_true(mr_exhaustive_find(setup.trace, MR_MODEL_VALUE, start, end, &races));
    const mr_window *w = setup.window;
    for (uint32_t b = 0; b < w->size; b++)
        for (uint32_t a = 0; a < b; a++) {
            if (w->thread[a] == w->thread[b] || !mr_locksets_meet(w, w->lockset[a], w->lockset[b]))
                continue;
            meetings++;
            *keeping += w->object[a] == w->object[b] && mr_window_op(w, a) == MR_OP_WRITE;
            if (mr_exhaustive_has(&races, start + a, start + b))
                fail_msg("seed %" PRIu64 ", [%" PRIu32 ", %" PRIu32 "): %" PRIu32 "-%" PRIu32
                         ":\n%s",
                         seed, start, end, start + a, start + b, text);
        }
    mr_exhaustive_free(&races);
    mr_setup_close(&setup);
    return meetings;
}

static void test_random_traces(void **state)
{
    (void)state;
    uint64_t traces = mr_length("CROSSED_TRACES", SHARE_TRACES, TRACES);
    uint32_t meetings = 0, keeping = 0, of_locks = 0;
    for (uint64_t seed = 1; seed <= traces; seed++) {
        char text[MR_CROSSED_TEXT], of_lock[MR_FLAGS_TEXT];
        mr_generate_crossed(seed, text);
        meetings += check_window(text, seed, &keeping);
        if (seed % 4)
            continue;
        mr_generate_flags(seed, of_lock); /* locks of all kinds, beside flags */
        of_locks += check_window(of_lock, seed, &(uint32_t){0});
    }
    print_message("%" PRIu32 " meetings, %" PRIu32 " of what is kept; %" PRIu32 " beside locks\n",
                  meetings, keeping, of_locks);
    if (traces >= SHARE_TRACES)
        assert_true(meetings > 2000 && keeping > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
