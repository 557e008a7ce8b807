/* Precedence and the choices of reads against a slow closure and against exhaustive search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/eliminate.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/random_walk.h"
#include "support/setup.h"
#include "windows/read_choices.h"
#include "windows/unit_choices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* has[e][f]: window event e is in before(f), by the rules of precedence.h and nothing else. */
typedef struct closure {
    bool has[MOST][MOST];
} closure;

/* Is there such an edge of opaque calls? */
static bool opaque(const mr_setup *setup, uint32_t from, uint32_t to)
{
    for (size_t k = 0; k < setup->opaque.count; k++)
        if (setup->opaque.items[k].from == from && setup->opaque.items[k].to == to)
            return true;
    return false;
}

static void direct(const mr_setup *setup, bool sources, bool units, closure *c)
{
    const mr_window *w = setup->window;
    const mr_trace *trace = w->trace;
    memset(c, 0, sizeof *c);
    for (uint32_t e = 0; e < w->size; e++) {
        for (uint32_t f = 0; f < w->size; f++) {
            uint32_t one = w->start + e, two = w->start + f;
            bool program_order = trace->thread[one] == trace->thread[two] && e < f;
            bool fork = trace->op[one] == MR_OP_FORK && trace->operand[one] == trace->thread[two];
            bool join = trace->op[two] == MR_OP_JOIN && trace->operand[two] == trace->thread[one];
            bool source = sources && mr_op_reads(trace->op[two]) && w->source[f] == e;
            bool unit = units && trace->op[two] == MR_OP_WAIT && trace->link[two] == one;
            c->has[e][f] =
                program_order || fork || join || source || unit || opaque(setup, one, two);
        }
    }
    for (uint32_t k = 0; k < w->size; k++)
        for (uint32_t e = 0; e < w->size; e++)
            for (uint32_t f = 0; f < w->size; f++)
                c->has[e][f] = c->has[e][f] || (c->has[e][k] && c->has[k][f]);
}

/* Is e needed before f can be the next event of its thread: as before(f), but f does not read yet,
 * nor join, nor take a unit. */
static bool needed(const mr_setup *setup, const closure *c, uint32_t e, uint32_t f)
{
    const mr_window *w = setup->window;
    const mr_trace *trace = w->trace;
    for (uint32_t g = 0; g < w->size; g++) {
        uint32_t one = w->start + g, two = w->start + f;
        bool before = (trace->thread[one] == trace->thread[two] && g < f) ||
                      opaque(setup, one, two) ||
                      (trace->op[one] == MR_OP_FORK && trace->operand[one] == trace->thread[two]);
        if (before && (g == e || c->has[e][g]))
            return true;
    }
    return false;
}

static void compare(const mr_setup *setup, const mr_precedence *precedence, const closure *c)
{
    const mr_window *w = setup->window;
    for (uint32_t f = 0; f < w->size; f++) {
        uint32_t with[MOST] = {0}, without[MOST] = {0};
        mr_precedence_require(precedence, without, f, false);
        assert_false(mr_precedence_require(precedence, without, f, false));
        assert_true(mr_precedence_require(precedence, with, f, true));
        assert_false(mr_precedence_require(precedence, with, f, true));
        assert_false(mr_precedence_require(precedence, with, f, false));
        for (uint32_t e = 0; e < w->size; e++) {
            uint32_t thread = w->thread[e], position = w->position[e];
            if (e != f)
                assert_int_equal(mr_precedes(precedence, e, f), c->has[e][f]);
            assert_int_equal(position < with[thread], e == f || c->has[e][f]);
            assert_int_equal(position < without[thread], needed(setup, c, e, f));
            if (thread != w->thread[f])
                assert_int_equal(mr_precedence_enables(precedence, e, f), needed(setup, c, e, f));
        }
    }
}

/* FORCED is a strict order within the order of the trace that contains HARD and, in rf, SOURCE.
 * Returns how many pairs are forced, not hard. */
static size_t check_forced(const mr_setup *setup, const closure *hard, const closure *source)
{
    const mr_window *w = setup->window;
    size_t forced = 0;
    for (uint32_t e = 0; e < w->size; e++) {
        for (uint32_t f = 0; f < w->size; f++) {
            if (e == f)
                continue;
            bool has = mr_precedes(&setup->forced, e, f);
            assert_true(has || !hard->has[e][f]);
            assert_true(has || w->model == MR_MODEL_VALUE || !source->has[e][f]);
            assert_true(!has || e < f);
            for (uint32_t g = f + 1; g < w->size && has; g++)
                assert_true(!mr_precedes(&setup->forced, f, g) ||
                            mr_precedes(&setup->forced, e, g));
            forced += has && !hard->has[e][f];
        }
    }
    return forced;
}

static size_t check_closures(const mr_setup *setup)
{
    static closure hard, source;
    direct(setup, false, false, &hard);
    direct(setup, true, true, &source);
    compare(setup, &setup->hard, &hard);
    compare(setup, &setup->source, &source);
    direct(setup, true, false, &source); /* FORCED: any unit will do */
    return check_forced(setup, &hard, &source);
}

/* ---- against exhaustive search ---- */

static bool done(const mr_window *w, const mr_exhaustive *search, size_t state, uint32_t event)
{
    uint32_t thread = w->trace->thread[w->start + event];
    return w->position[event] < mr_exhaustive_done(search, state, thread);
}

/* FORCED is sound: no state has f done but not e. */
static void check_forced_is_sound(const mr_setup *setup, const mr_exhaustive *search,
                                  const char *text)
{
    const mr_window *w = setup->window;
    for (uint32_t e = 0; e < w->size; e++) {
        for (uint32_t f = 0; f < w->size; f++) {
            if (e == f || !mr_precedes(&setup->forced, e, f))
                continue;
            for (size_t state = 0; state < search->state_count; state++)
                if (done(w, search, state, f) && !done(w, search, state, e))
                    fail_msg("%" PRIu32 " before %" PRIu32 " is not forced in [%" PRIu32
                             ", %" PRIu32 "), %s:\n%s",
                             w->start + e, w->start + f, w->start, w->end, mr_model_name(w->model),
                             text);
        }
    }
}

/* What reads see in a reordering is a choice of theirs. `path` ends in a read. */
static void check_choice(const mr_setup *setup, const mr_witness *path, const char *text)
{
    const mr_window *w = setup->window;
    uint32_t read = path->events[path->event_count - 1] - w->start;
    if (w->variables[w->object[read]].by_source)
        return;
    uint32_t write = MR_NONE;
    for (uint32_t i = 0; i + 1 < path->event_count; i++) {
        uint32_t event = path->events[i] - w->start;
        if (mr_op_writes(mr_window_op(w, event)) && w->object[event] == w->object[read])
            write = event;
    }
    bool may = write == MR_NONE ? mr_read_may_see_carried(w, &setup->hard, read)
                                : mr_read_may_see(w, &setup->hard, read, write);
    uint32_t first, end;
    if (!may)
        fail_msg("read %" PRIu32 " sees %" PRIu32 " in [%" PRIu32 ", %" PRIu32 "):\n%s",
                 w->start + read, write == MR_NONE ? write : w->start + write, w->start, w->end,
                 text);
    mr_read_same_value_writes(w, read, &first, &end);
    bool listed = write == MR_NONE;
    for (uint32_t k = first; k < end; k++)
        listed = listed || w->writes_by_value[k] == write;
    assert_true(listed);
}

/* The unit that a wait takes in a reordering, the oldest first, is a choice of its. `path` ends in
 * the wait. */
static void check_unit(const mr_setup *setup, const mr_witness *path, const char *text)
{
    const mr_window *w = setup->window;
    uint32_t wait = path->events[path->event_count - 1] - w->start, post = MR_NONE, rank = 0;
    const mr_window_semaphore *s = &w->semaphores[w->object[wait]];
    if (!s->shared)
        return;
    for (uint32_t i = 0; i + 1 < path->event_count; i++) {
        uint32_t event = path->events[i] - w->start;
        rank += mr_window_op(w, event) == MR_OP_WAIT && w->object[event] == w->object[wait];
    }
    uint32_t number = s->units;
    for (uint32_t i = 0; i + 1 < path->event_count && number <= rank; i++) {
        uint32_t event = path->events[i] - w->start;
        if (mr_window_op(w, event) == MR_OP_POST && w->object[event] == w->object[wait] &&
            number++ == rank)
            post = event;
    }
    if (post == MR_NONE ? !mr_wait_may_take_carried(&setup->forced, wait)
                        : !mr_wait_may_take(&setup->forced, wait, post))
        fail_msg("wait %" PRIu32 " takes unit %" PRIu32 " in [%" PRIu32 ", %" PRIu32 "):\n%s",
                 w->start + wait, rank, w->start, w->end, text);
}

static void check_choices(const mr_setup *setup, const mr_exhaustive *search, const char *text)
{
    for (size_t state = 1; state < search->state_count; state++) {
        mr_witness path;
        assert_true(mr_exhaustive_path(search, state, 0, 0, &path));
        uint32_t last = path.events[path.event_count - 1];
        if (mr_op_reads(setup->trace->op[last]))
            check_choice(setup, &path, text);
        if (setup->trace->op[last] == MR_OP_WAIT)
            check_unit(setup, &path, text);
        mr_witness_free(&path);
    }
}

/* So is what elimination raises it to. Returns how many pairs are new. */
static size_t check_refined(mr_setup *setup, const mr_exhaustive *search, const char *text)
{
    const mr_window *w = setup->window;
    const mr_eliminate_limits limits = {0};
    static bool had[MOST][MOST];
    size_t added = 0;
    for (uint32_t e = 0; e < w->size; e++)
        for (uint32_t f = 0; f < w->size; f++)
            had[e][f] = e != f && mr_precedes(&setup->forced, e, f);
    assert_true(mr_eliminate_refine(&setup->forced, NULL, &limits, &setup->arena));
    check_forced_is_sound(setup, search, text);
    for (uint32_t e = 0; e < w->size; e++) {
        for (uint32_t f = 0; f < w->size; f++) {
            bool has = e != f && mr_precedes(&setup->forced, e, f);
            assert_true(has || !had[e][f]);
            assert_true(!has || e < f);
            added += has && !had[e][f];
        }
    }
    assert_true(setup->forced.refined || !added);
    return added;
}

static size_t check_trace(const char *text, uint64_t seed, size_t *refined)
{
    mr_setup setup;
    mr_random random = {seed};
    mr_setup_open(&setup, text);
    uint32_t count = setup.trace->event_count;
    size_t forced = 0;
    for (int model = 0; model < 2; model++) {
        uint32_t start = seed % 2 ? mr_random_below(&random, count / 2) : 0;
        uint32_t end = seed % 4 < 2 ? count : mr_random_range(&random, start + 1, count);
        mr_exhaustive search;
        mr_setup_window(&setup, start, end, (mr_model)model);
        forced += check_closures(&setup);
        assert_true(mr_exhaustive_find(setup.trace, (mr_model)model, start, end, &search));
        check_forced_is_sound(&setup, &search, text);
        if (model == MR_MODEL_VALUE)
            check_choices(&setup, &search, text);
        *refined += check_refined(&setup, &search, text);
        mr_exhaustive_free(&search);
    }
    mr_setup_close(&setup);
    return forced;
}

static void test_random_traces(void **state)
{
    (void)state;
    size_t forced = 0, refined = 0;
    for (uint64_t seed = 0; seed < 80; seed++) {
        for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
            char *text = mr_generate_trace(seed + 9000, (mr_shape)shape);
            assert_non_null(text);
            forced += check_trace(text, seed, &refined);
            free(text);
        }
    }
    assert_true(forced > 1000); /* the soundness of nothing would say nothing */
    assert_true(refined > 10);
}

/* More threads, forks and joins than exhaustive search can take. */
static void test_random_walks(void **state)
{
    (void)state;
    static char text[MOST * MR_RANDOM_WALK_LINE_BYTES + 1];
    for (uint64_t seed = 0; seed < 300; seed++) {
        mr_setup setup;
        mr_random_walk(seed, MOST, text);
        mr_setup_open(&setup, text);
        uint32_t count = setup.trace->event_count;
        mr_setup_window(&setup, (uint32_t)(seed % 7 < count ? seed % 7 : 0), count, MR_MODEL_RF);
        check_closures(&setup);
        mr_setup_close(&setup);
    }
}

/* ---- by hand: what is forced before an event and not by program order, fork and join ---- */

typedef struct known {
    const char *name, *text;
    uint32_t start, event;
    const char *rf, *value; /* events of the trace */
} known;

static const known table[] = {
    {"one writer of the value", "A|w(x=1)|1\nB|r(x=1)|2\n", 0, 1, "0", "0"},
    {"what the writer needs too", "C|w(y=1)|1\nA|r(y=1)|2\nA|w(x=1)|3\nB|r(x=1)|4\n", 0, 3, "0 1 2",
     "0 1 2"},
    {"two writers of the value", "A|w(x=1)|1\nB|w(x=1)|2\nC|r(x=1)|3\n", 0, 2, "1", ""},
    {"two writers in one thread", "A|w(x=1)|1\nA|w(x=1)|2\nC|r(x=1)|3\n", 0, 2, "0 1", "0"},
    {"what two writers both need", "D|fork(A)|1\nD|fork(B)|2\nA|w(x=1)|3\nB|w(x=1)|4\nC|r(x=1)|5\n",
     0, 4, "0 1 3", "0"},
    {"the initial value is the same", "C|r(x=1)|1\nA|w(x=1)|2\nB|r(x=1)|3\n", 0, 2, "1", ""},
    {"the carried value is the same", "A|w(x=1)|1\nA|w(x=1)|2\nB|r(x=1)|3\n", 1, 2, "1", ""},
    {"the carried value is another one", "A|w(x=2)|1\nA|w(x=1)|2\nB|r(x=1)|3\n", 1, 2, "1", "1"},
    {"the writer is before the window", "A|w(x=1)|1\nB|r(x=1)|2\nA|w(x=2)|3\n", 1, 1, "", ""},
    {"a writer that may come before, though the trace has it after",
     "A|w(x=1)|1\nB|r(x=1)|2\nC|w(x=1)|3\n", 0, 1, "0", ""},
    {"a writer that comes after the read", "A|w(x=1)|1\nB|r(x=1)|2\nB|w(x=1)|3\n", 0, 1, "0", "0"},
    {"a writer after the read, by fork", "A|w(x=1)|1\nB|r(x=1)|2\nB|fork(C)|3\nC|w(x=1)|4\n", 0, 1,
     "0", "0"},
    {"a writer that is overwritten before its fork",
     "A|w(x=1)|1\nA|w(x=2)|2\nA|fork(B)|3\nC|w(x=1)|4\nB|r(x=1)|5\n", 0, 4, "3", "3"},
    {"a writer that the reader overwrites first",
     "A|w(x=1)|1\nA|fork(B)|2\nB|w(x=2)|3\nC|w(x=1)|4\nB|r(x=1)|5\n", 0, 4, "3", "3"},
    {"its own write of the value, and another", "A|w(x=1)|1\nB|w(x=1)|2\nA|r(x=1)|3\n", 0, 2, "1",
     ""},
    {"a section that is certainly entered before is left before",
     "A|acq(l)|1\nA|w(x=1)|2\nA|rel(l)|3\nB|r(x=1)|4\nB|acq(l)|5\n", 0, 4, "0 1 2", "0 1 2"},
    {"but one that need not be entered is not", "A|acq(l)|1\nA|rel(l)|3\nB|acq(l)|5\n", 0, 2, "",
     ""},
    {"nor one that need not be left", "A|acq(l)|1\nA|w(x=1)|2\nA|rel(l)|3\nB|r(x=1)|4\n", 0, 3,
     "0 1", "0 1"},
    {"a lock held at the start", "A|acq(l)|1\nA|w(x=1)|2\nA|rel(l)|3\nB|acq(l)|4\n", 1, 3, "1 2",
     "1 2"},
    {"a shared section is left before an exclusive one",
     "A|racq(l)|1\nA|w(x=1)|2\nA|rrel(l)|3\nB|r(x=1)|4\nB|acq(l)|5\n", 0, 4, "0 1 2", "0 1 2"},
    {"but not before another shared one",
     "A|racq(l)|1\nA|w(x=1)|2\nA|rrel(l)|3\nB|r(x=1)|4\nB|racq(l)|5\n", 0, 4, "0 1", "0 1"},
    {"a lock held shared at the start", "A|racq(l)|1\nA|w(x=1)|2\nA|rrel(l)|3\nB|acq(l)|4\n", 1, 3,
     "1 2", "1 2"},
    {"the only post", "A|w(x)|1\nA|post(s)|2\nB|wait(s)|3\n", 0, 2, "0 1", "0 1"},
    {"one of two posts will do", "A|post(s)|1\nC|post(s)|2\nB|wait(s)|3\n", 0, 2, "", ""},
    {"two waits need both", "A|post(s)|1\nC|post(s)|2\nB|wait(s)|3\nB|wait(s)|4\n", 0, 3, "0 1",
     "0 1"},
    {"the first post of the only poster", "A|post(s)|1\nA|post(s)|2\nB|wait(s)|3\n", 0, 2, "0",
     "0"},
    {"a unit carried in will do", "A|post(s)|1\nA|post(s)|2\nB|wait(s)|3\n", 1, 2, "", ""},
    {"carried in for the first wait only", "A|post(s)|1\nA|post(s)|2\nB|wait(s)|3\nB|wait(s)|4\n",
     1, 3, "1", "1"},
    {"a post after the wait gives nothing to it",
     "A|post(s)|1\nB|wait(s)|2\nB|fork(C)|3\nC|post(s)|4\n", 0, 1, "0", "0"},
    {"an update after the write of its value", "A|aw(x=1)|1\nB|au(x=1>2)|2\n", 0, 1, "0", "0"},
    {"an update does not see itself", "A|aw(x=1)|1\nB|au(x=1>1)|2\n", 0, 1, "0", "0"},
    {"an update writes what the next one reads", "A|au(x=0>1)|1\nB|au(x=1>2)|2\nC|ar(x=2)|3\n", 0,
     2, "0 1", "0 1"},
    {"a lock held at the start and entered again",
     "A|acq(l)|1\nA|rel(l)|2\nA|acq(l)|3\nA|rel(l)|4\nB|acq(l)|5\n", 1, 4, "1", "1"},
};

static void test_forced_by_hand(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const known *k = &table[i];
        mr_setup setup;
        mr_setup_open(&setup, k->text);
        for (int model = 0; model < 2; model++) {
            char found[128] = "";
            const char *expected = model == MR_MODEL_RF ? k->rf : k->value;
            uint32_t f = k->event - k->start;
            mr_setup_window(&setup, k->start, setup.trace->event_count, (mr_model)model);
            for (uint32_t e = 0; e < setup.window->size; e++)
                if (e != f && mr_precedes(&setup.forced, e, f) && !mr_precedes(&setup.hard, e, f))
                    sprintf(found + strlen(found), "%s%" PRIu32, *found ? " " : "", k->start + e);
            if (strcmp(found, expected) != 0) {
                print_error("%s, %s: '%s', expected '%s'\n", k->name,
                            mr_model_name((mr_model)model), found, expected);
                wrong++;
            }
        }
        mr_setup_close(&setup);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forced_by_hand),
        cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_random_walks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
