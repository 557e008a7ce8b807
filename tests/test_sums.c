/*
 * sums: what solver/sums.h refutes, against exhaustive search: on random traces with counters, which threads count up
 * and down, set and read, of an object that one of them may free; for the whole trace and for windows of it by
 * chance, every two accesses, two lists of accesses, and every free and use; with both precedences, in U and in the cone.
 *
 * SUMS_SEED and SUMS_TRACES in the environment choose other traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/cone.h"
#include "solver/sums.h"
#include "support/exhaustive.h"
#include "support/goal_search.h"
#include "support/length.h"
#include "support/random.h"
#include "support/setup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACES = 20000, SHARE_TRACES = 2000, THREADS = 4, COUNTERS = 2, EVENTS = 17 };

/* ---- a trace ---- */

typedef struct program {
    mr_random random;
    FILE *out;
    int values[COUNTERS + 2];         /* of the counters, and of two other variables */
    uint32_t threads, events, holder; /* thread + 1; 0: nobody holds the lock */
    bool runs[THREADS], freed;
} program;

static void line(program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(program *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(p->out, format, arguments);
    va_end(arguments);
    p->events++;
    fprintf(p->out, "|%" PRIu32 "\n", p->events);
}

static void change(program *p, uint32_t thread, uint32_t counter)
{
    static const int changes[] = {1, 1, 1, -1, -1, -1, -1, 2, -2, 0};
    uint32_t kind = mr_random_below(&p->random, 14);
    int *value = &p->values[counter], before = *value;
    *value = kind < 10 ? before + changes[kind] : (int)kind - 10;
    line(p, "T%" PRIu32 "|au(C%" PRIu32 "=%d>%d)", thread, counter, before, *value);
    if (counter || p->freed || *value || !mr_random_percent(&p->random, 60))
        return;
    line(p, "T%" PRIu32 "|free(o)", thread);
    p->freed = true;
}

static void use(program *p, uint32_t thread, const char *name, int *value)
{
    static const char *const ops[] = {"r", "ar", "w", "aw"};
    uint32_t op = mr_random_below(&p->random, 4);
    if (op >= 2)
        *value = (int)mr_random_below(&p->random, 3);
    line(p, "T%" PRIu32 "|%s(%s=%d)", thread, ops[op], name, *value);
}

static void step(program *p)
{
    uint32_t thread = mr_random_below(&p->random, p->threads);
    uint32_t kind = mr_random_below(&p->random, 100);
    if (!p->runs[thread]) {
        line(p, "T0|fork(T%" PRIu32 ")", thread);
        p->runs[thread] = true;
    } else if (kind < 55) {
        uint32_t counter = mr_random_below(&p->random, 4) == 0;
        if (counter || !p->freed)
            change(p, thread, counter);
    } else if (kind < 63) {
        use(p, thread, "C1", &p->values[1]);
    } else if (kind < 65 && !p->freed) {
        use(p, thread, "C0", &p->values[0]);
    } else if (kind < 90) {
        bool in_object = mr_random_below(&p->random, 2) && !p->freed;
        use(p, thread, in_object ? "x" : "y", &p->values[COUNTERS + !in_object]);
    } else if (!p->holder) {
        line(p, "T%" PRIu32 "|acq(l)", thread);
        p->holder = thread + 1;
    } else if (p->holder == thread + 1) {
        line(p, "T%" PRIu32 "|rel(l)", thread);
        p->holder = 0;
    }
}

/* The caller frees it. */
static char *write_trace(uint64_t seed)
{
    char *text = NULL;
    size_t length = 0;
    program p = {.random = {seed}, .out = open_memstream(&text, &length)};
    assert_non_null(p.out);
    p.threads = mr_random_range(&p.random, 2, THREADS);
    bool forks = mr_random_below(&p.random, 4);
    for (uint32_t t = 0; t < p.threads; t++)
        p.runs[t] = !t || !forks;
    fputs("#@in C0 o\n#@in x o\n", p.out);
    if (mr_random_below(&p.random, 3)) {
        line(&p, "T0|alloc(o)");
        p.values[0] = (int)mr_random_below(&p.random, 3);
        line(&p, "T0|w(C0=%d)", p.values[0]);
    }
    uint32_t events = mr_random_range(&p.random, 8, EVENTS);
    while (p.events < events)
        step(&p);
    assert_int_equal(fclose(p.out), 0);
    return text;
}

/* ---- questions ---- */

typedef struct examination {
    uint64_t seed;
    mr_setup setup;
    mr_counters counters;
    mr_exhaustive search;
    const mr_right_goals *right;
    uint64_t questions, refuted, uses, uses_refuted;
} examination;

/* Is it refuted in some way? */
static bool is_refuted(examination *x, const mr_goal *question)
{
    mr_setup *s = &x->setup;
    bool refuted = false;
    for (int i = 0; i < 4; i++) {
        const mr_precedence *precedence = i % 2 ? &s->hard : &s->forced;
        uint32_t required[THREADS + 1], allowed[THREADS + 1], cone[THREADS + 1];
        uint64_t effort = 0;
        mr_goal goal = *question;
        mr_stops stops[2];
        memcpy(stops, goal.stops, goal.stop_count * sizeof *stops);
        goal.stops = stops;
        if (!mr_cone_narrow(precedence, &goal))
            continue;
        mr_cone_required(precedence, &goal, required);
        mr_cone_allowed(precedence, &goal, allowed);
        if (!mr_cone_drop_unreached(precedence, &goal, allowed))
            continue;
        assert_true(mr_cone_close(&s->hard, precedence, required, allowed, &goal, cone, &s->arena));
        refuted |= mr_sums_refute(&x->counters, precedence, &goal, required, i / 2 ? cone : allowed,
                                  &effort, &s->arena);
    }
    return refuted;
}

static void wrong(const examination *x, const char *what, uint32_t one, uint32_t other)
{
    char *text = write_trace(x->seed);
    fail_msg("SUMS_SEED=%" PRIu64 " SUMS_TRACES=1: %s %" PRIu32 " %" PRIu32 ", window %" PRIu32
             " to %" PRIu32 "\n%s",
             x->seed, what, one, other, x->setup.window->start, x->setup.window->end, text);
    free(text);
}

static bool conflict(const mr_window *w, uint32_t a, uint32_t b)
{
    uint8_t one = mr_window_op(w, a), other = mr_window_op(w, b);
    if (!mr_op_is_access(one) || !mr_op_is_access(other) || w->thread[a] == w->thread[b] ||
        w->object[a] != w->object[b] || (mr_op_is_atomic(one) && mr_op_is_atomic(other)))
        return false;
    return mr_op_writes(one) || mr_op_writes(other);
}

/* The access and those of its thread and variable after it that conflict with all of the other list, and are on the
 * same side of the free. */
static uint32_t make_list(const mr_window *w, uint32_t event, const uint32_t *other,
                          uint32_t other_count, uint32_t most, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t e = event; e < w->size && count < most; e++) {
        bool fits = w->thread[e] == w->thread[event];
        for (uint32_t i = 0; i < other_count && fits; i++)
            fits = conflict(w, e, other[i]);
        fits = fits && mr_window_end_of_life(w, e) == mr_window_end_of_life(w, event);
        if (fits)
            list[count++] = e;
    }
    return count;
}

static void ask_race(examination *x, uint32_t a, uint32_t b, uint32_t most)
{
    const mr_window *w = x->setup.window;
    uint32_t one[EVENTS + 4], other[EVENTS + 4];
    uint32_t ones = make_list(w, a, &b, 1, most, one);
    uint32_t others = make_list(w, b, one, ones, most, other);
    mr_stops stops[2] = {{one, ones}, {other, others}};
    mr_goal goal = {.stops = stops, .stop_count = 2};
    if (!is_refuted(x, &goal)) {
        x->questions++;
        return;
    }
    x->questions++;
    x->refuted++;
    for (uint32_t i = 0; i < ones; i++)
        for (uint32_t k = 0; k < others; k++) {
            uint32_t first = w->start + one[i], second = w->start + other[k];
            if (mr_exhaustive_has(&x->search, first < second ? first : second,
                                  first < second ? second : first))
                wrong(x, "a race is refuted:", first, second);
        }
}

static void ask_use(examination *x, uint32_t released, uint32_t use)
{
    const mr_window *w = x->setup.window;
    mr_stops stop = {&use, 1};
    mr_goal goal = {.stops = &stop, .stop_count = 1, .required = &released, .required_count = 1};
    x->uses++;
    if (!is_refuted(x, &goal))
        return;
    x->uses_refuted++;
    if (x->right->use_after_free[w->start + released][w->start + use])
        wrong(x, "a use after free is refuted:", w->start + released, w->start + use);
}

static void examine_window(examination *x, uint32_t start, uint32_t end)
{
    mr_setup_window(&x->setup, start, end, MR_MODEL_VALUE);
    const mr_window *w = x->setup.window;
    assert_true(mr_counters_build(&x->counters, w, &x->setup.arena));
    assert_true(mr_exhaustive_find(x->setup.trace, MR_MODEL_VALUE, start, end, &x->search));
    mr_right_goals *right =
        mr_goal_search(x->setup.trace, MR_MODEL_VALUE, MR_OPAQUE_PAIR, start, end);
    assert_non_null(right);
    x->right = right;
    for (uint32_t a = 0; a < w->size; a++)
        for (uint32_t b = 0; b < w->size; b++) {
            if (a < b && conflict(w, a, b))
                ask_race(x, a, b, 1);
            if (conflict(w, a, b))
                ask_race(x, a, b, 3);
            if (mr_window_op(w, a) == MR_OP_FREE && mr_op_is_access(mr_window_op(w, b)) &&
                w->variables[w->object[b]].free == a && b < a && w->thread[a] != w->thread[b])
                ask_use(x, a, b);
        }
    mr_goal_search_free(right);
    mr_exhaustive_free(&x->search);
}

static void nothing_that_is_possible_is_refuted(void **state)
{
    (void)state;
    examination x = {0};
    uint64_t first = mr_number_from_environment("SUMS_SEED", 20261128),
             traces = mr_length("SUMS_TRACES", SHARE_TRACES, TRACES);
    for (uint64_t i = 0; i < traces; i++) {
        x.seed = first + i;
        char *text = write_trace(x.seed);
        mr_setup_open(&x.setup, text);
        uint32_t count = x.setup.trace->event_count, cut = (uint32_t)(x.seed % 5);
        examine_window(&x, 0, count);
        examine_window(&x, cut, count - (uint32_t)(x.seed / 5 % 3));
        mr_setup_close(&x.setup);
        free(text);
    }
    print_message("%" PRIu64 " questions about races, %" PRIu64 " refuted; %" PRIu64
                  " about uses, %" PRIu64 " refuted\n",
                  x.questions, x.refuted, x.uses, x.uses_refuted);
    if (traces >= SHARE_TRACES)
        assert_true(x.refuted > x.questions / 200 && x.uses_refuted > x.uses / 50);
}

/* The value before the first write is no count. By the order of the program alone, the update of T3 may begin with it, because the
 * write of 0 comes after T1's access; the sum with it would overflow. */
static void a_large_value_before_is_no_count(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "T1|r(C=9223372036854775807)|1\nT1|w(x=1)|2\nT1|w(C=0)|3\nT2|au(C=0>1)|4\nT3|au(C=1>2)|5\n"
        "T3|au(C=2>3)|6\nT3|w(x=2)|7\nT2|au(C=3>4)|8\n",
        "T1|r(C=-9223372036854775808)|1\nT1|w(x=1)|2\nT1|w(C=0)|3\nT2|au(C=0>-1)|4\nT3|au(C=-1>-2)|"
        "5\n"
        "T3|au(C=-2>-3)|6\nT3|w(x=2)|7\nT2|au(C=-3>-4)|8\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        examination x = {0};
        mr_setup_open(&x.setup, texts[i]);
        examine_window(&x, 0, x.setup.trace->event_count);
        assert_int_equal(x.setup.window->variable_count, 2);
        assert_int_equal(x.counters.count, 1);
        mr_stops stops[] = {{&(uint32_t){1}, 1}, {&(uint32_t){6}, 1}};
        mr_goal goal = {.stops = stops, .stop_count = 2};
        uint32_t required[THREADS + 1], allowed[THREADS + 1];
        uint64_t effort = 0;
        mr_cone_required(&x.setup.hard, &goal, required);
        mr_cone_allowed(&x.setup.hard, &goal, allowed);
        assert_false(mr_sums_refute(&x.counters, &x.setup.hard, &goal, required, allowed, &effort,
                                    &x.setup.arena));
        mr_setup_close(&x.setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_that_is_possible_is_refuted),
        cmocka_unit_test(a_large_value_before_is_no_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
