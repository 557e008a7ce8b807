/*
 * What eliminate.h says is certain, against every witness that exhaustive search finds: on random
 * traces with all kinds of operations, in all models, in windows cut at random, for pairs of
 * accesses and for lists.
 *
 *   ELIMINATE_TRACES, ELIMINATE_SEED, ELIMINATE_SHAPE choose other traces (support/trials.h), FLAG_TRACES how many of
 *   generate_flags.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "solver/each_stop.h"
#include "solver/eliminate.h"
#include "solver/saturate.h"
#include "support/generate_flags.h"
#include "support/length.h"
#include "support/window_trials.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_TRACES = 8000,
    SHARE_TRACES = 3000,
    FLAG_TRACES = 4000,
    SHARE_FLAG_TRACES = 2000,
    DEFAULT_SEED = 31415926,
    THREADS = MR_EXHAUSTIVE_THREADS
};

typedef struct examination {
    mr_window_trials trials;
    uint64_t questions, races, settled, near, each, regions, orders, forced_orders, excluded;
} examination;

/* A question and what became of it. */
typedef struct question {
    mr_cone_question first; /* as it was before */
    mr_stops narrowed[2];
    uint32_t new_required[THREADS], new_cone[THREADS];
    mr_known known;
    uint8_t *on_the_way; /* one a state: 2 a witness ends here, 1 one comes through */
} question;

/* Marks the states of witnesses. How many witnesses end. */
static size_t mark_states(const examination *x, question *q)
{
    const mr_exhaustive *search = &x->trials.search;
    size_t ends = 0;
    q->on_the_way = calloc(search->state_count, 1);
    assert_non_null(q->on_the_way);
    for (size_t i = 0; i < search->hit_count; i++) {
        const mr_exhaustive_hit *hit = &search->hits[i];
        if (mr_window_trials_is_between(&x->trials, &hit->race, &q->first.stops[0],
                                        &q->first.stops[1])) {
            q->on_the_way[hit->state] = 2;
            ends++;
        }
    }
    for (size_t i = search->step_count; i-- > 0;)
        if (q->on_the_way[search->steps[i].to] && !q->on_the_way[search->steps[i].from])
            q->on_the_way[search->steps[i].from] = 1;
    return ends;
}

static uint32_t done(const examination *x, size_t state, uint32_t thread)
{
    return mr_exhaustive_done(&x->trials.search, state,
                              x->trials.setup.window->threads[thread].number);
}

static void say(examination *x, const char *wrong, uint32_t one, uint32_t two)
{
    uint32_t start = x->trials.setup.window->start;
    mr_window_trials_wrong(&x->trials, "%" PRIu32 " (and %" PRIu32 ") %s", start + one, start + two,
                           wrong);
}

/* Each witness stops at the lists that are left, has L and nothing of E. */
static void check_ends(examination *x, const question *q)
{
    const mr_window *w = x->trials.setup.window;
    for (size_t state = 0; state < x->trials.search.state_count; state++) {
        if (q->on_the_way[state] != 2)
            continue;
        for (uint32_t t = 0; t < w->thread_count; t++) {
            uint32_t count = done(x, state, t);
            if (count < q->new_required[t])
                say(x, "is required, a witness does without", mr_window_at(w, t, count), 0);
            if (count > q->new_cone[t] && q->new_cone[t] < q->first.cone[t])
                say(x, "is excluded, a witness has it", mr_window_at(w, t, q->new_cone[t]), 0);
        }
        for (int side = 0; side < 2; side++) {
            const mr_stops *list = &q->narrowed[side];
            uint32_t t = w->thread[list->events[0]];
            bool stops = false;
            for (uint32_t i = 0; i < list->count; i++)
                stops = stops || w->position[list->events[i]] == done(x, state, t);
            if (!stops)
                say(x, "is the first of a list at which no witness stops", list->events[0], 0);
        }
    }
}

/* u is done wherever v is. */
static bool is_before(const examination *x, const question *q, uint32_t u, uint32_t v)
{
    const mr_window *w = x->trials.setup.window;
    for (size_t state = 0; state < x->trials.search.state_count; state++)
        if (q->on_the_way[state] && done(x, state, w->thread[v]) > w->position[v] &&
            done(x, state, w->thread[u]) <= w->position[u])
            return false;
    return true;
}

static bool in_cone(const mr_window *w, const question *q, uint32_t event)
{
    return w->position[event] < q->new_cone[w->thread[event]];
}

static void check_order(examination *x, const question *q)
{
    const mr_window *w = x->trials.setup.window;
    for (uint32_t u = 0; u < w->size; u++) {
        for (uint32_t v = 0; v < w->size; v++) {
            if (u == v || w->thread[u] == w->thread[v] || !in_cone(w, q, u) || !in_cone(w, q, v) ||
                !mr_known_before(&q->known, u, v))
                continue;
            x->orders++;
            x->forced_orders += mr_precedes(&x->trials.setup.forced, u, v);
            if (!is_before(x, q, u, v))
                say(x, "are known to be in this order, a witness has another one", u, v);
            if (mr_known_before(&q->known, v, u))
                say(x, "are before each other", u, v);
        }
    }
}

/* Decides the question; false: filter and cone leave nothing. Every other question is given the rows,
 * the others make them. */
static bool decide(mr_setup *setup, question *q, mr_eliminated *answer)
{
    mr_rows *rows = mr_arena_alloc(&setup->arena, 1, sizeof *rows);
    if (!mr_cone_question_pose(&q->first, setup))
        return false;
    memcpy(q->new_required, q->first.required, sizeof q->new_required);
    memcpy(q->new_cone, q->first.cone, sizeof q->new_cone);
    memcpy(q->narrowed, q->first.stops, sizeof q->narrowed);
    mr_goal goal = {.stops = q->narrowed, .stop_count = 2};
    bool given = q->first.stops[0].events[0] % 2;
    assert_true(rows && mr_rows_build(rows, setup->window, &setup->arena));
    *answer = mr_eliminate(&setup->forced, given ? rows : NULL, &goal, q->new_required, q->new_cone,
                           &(mr_eliminate_limits){0}, &q->known, &setup->arena);
    if (*answer == MR_ELIMINATED_SOME)
        assert_int_equal(mr_eliminate_complete(&q->known), MR_ELIMINATED_SOME);
    return true;
}

/* Is there a proof by rows before the stops alone? */
static bool is_proven_near(mr_setup *setup, const question *q)
{
    uint64_t effort;
    for (uint32_t t = 0; t < setup->window->thread_count; t++)
        if (q->first.required[t] > q->first.allowed[t])
            return false;
    mr_eliminated answer =
        mr_eliminate_near(&setup->forced, NULL, &q->first.goal, q->first.required, q->first.allowed,
                          &(mr_eliminate_limits){0}, &effort, &setup->arena);
    assert_true(answer == MR_ELIMINATED_ALL || answer == MR_ELIMINATED_NOTHING);
    return answer == MR_ELIMINATED_ALL;
}

/* Is there one for each choice of stops alone? */
static bool is_proven_each(mr_setup *setup, const question *q)
{
    uint64_t effort = 0;
    for (uint32_t t = 0; t < setup->window->thread_count; t++)
        if (q->first.required[t] > q->first.allowed[t])
            return false;
    return mr_each_stop_refute(&setup->forced, NULL, &q->first.goal, q->first.required,
                               q->first.allowed, &(mr_eliminate_limits){0}, &effort, &setup->arena);
}

/* Has the formula about the events [first, end) no solution? */
static bool is_proven_in_region(mr_setup *setup, const question *q, uint32_t first, uint32_t end)
{
    const mr_encoding_options options = {.lazy = true, .stage = 2, .first = first, .end = end};
    mr_encoding encoding;
    uint64_t spent = 0;
    mr_arena_mark mark = mr_arena_get_mark(&setup->arena);
    assert_true(mr_encoding_build(&encoding, setup->window, &setup->hard, &setup->forced,
                                  q->first.required, q->first.allowed, &q->first.goal, &options,
                                  &setup->arena));
    int64_t *order = mr_arena_alloc(&setup->arena, encoding.formula.node_count, sizeof *order);
    assert_non_null(order);
    mr_saturated answer = mr_saturate(&encoding, 0, &spent, order, NULL, &setup->arena);
    assert_true(answer == MR_SATURATED_SAT || answer == MR_SATURATED_UNSAT);
    mr_encoding_free(&encoding);
    mr_arena_release(&setup->arena, mark);
    return answer == MR_SATURATED_UNSAT;
}

/* A proof by a part of the window is one, whatever part it is. */
static void check_regions(examination *x, const question *q, bool races)
{
    enum { REGIONS = 4 };
    mr_setup *setup = &x->trials.setup;
    const mr_window *w = setup->window;
    if (w->model == MR_MODEL_BRANCH)
        return;
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (q->first.required[t] > q->first.allowed[t])
            return;
    for (uint32_t i = 0; i < REGIONS; i++) {
        uint32_t first = i * w->size / REGIONS, rest = w->size - first;
        uint32_t end = i % 2 ? w->size : first + 1 + rest * 3 / 4;
        bool proven = is_proven_in_region(setup, q, first, end < w->size ? end : w->size);
        x->regions += proven;
        if (proven && races)
            say(x, "are no race in a region, exhaustive search finds one",
                q->first.stops[0].events[0], q->first.stops[1].events[0]);
    }
}

static void ask(void *context, mr_stops a, mr_stops b)
{
    examination *x = context;
    question q = {.first.stops = {a, b}};
    mr_eliminated answer;
    if (!decide(&x->trials.setup, &q, &answer))
        return;
    size_t ends = mark_states(x, &q);
    x->questions++;
    x->races += ends > 0;
    x->settled += answer == MR_ELIMINATED_ALL;
    bool near = is_proven_near(&x->trials.setup, &q);
    x->near += near;
    if (near && ends)
        say(x, "are no race near the stops, exhaustive search finds one", a.events[0], b.events[0]);
    bool each = is_proven_each(&x->trials.setup, &q);
    x->each += each;
    if (each && ends)
        say(x, "are no race by each stop, exhaustive search finds one", a.events[0], b.events[0]);
    check_regions(x, &q, ends);
    if (answer == MR_ELIMINATED_ALL && ends)
        say(x, "are no race, exhaustive search finds one", a.events[0], b.events[0]);
    if (answer != MR_ELIMINATED_ALL) {
        assert_int_equal(answer, MR_ELIMINATED_SOME);
        x->excluded += memcmp(q.first.cone, q.new_cone, sizeof q.new_cone) != 0;
        check_ends(x, &q);
        check_order(x, &q);
    }
    free(q.on_the_way);
}

static void test_random_traces(void **state)
{
    (void)state;
    examination x = {
        .trials = {
            .context = &x, .ask = ask, .lists = true, .bundles = true, .every_witness = true}};
    const mr_trials trials = {.prefix = "ELIMINATE",
                              .traces = DEFAULT_TRACES,
                              .share = SHARE_TRACES,
                              .seed = DEFAULT_SEED,
                              .all_kinds = true};
    uint64_t traces = mr_trials_run(&trials, mr_window_trials_trial, &x.trials);
    print_message("%" PRIu64 " questions: %" PRIu64 " races, %" PRIu64 " settled, %" PRIu64
                  " of them near, %" PRIu64 " proofs in regions; %" PRIu64
                  " with a smaller cone; %" PRIu64 " orders, %" PRIu64 " of them forced\n",
                  x.questions, x.races, x.settled, x.near, x.regions, x.excluded, x.orders,
                  x.forced_orders);
    if (traces >= DEFAULT_TRACES) /* the soundness of nothing would say nothing */
        assert_true(x.settled > x.questions / 100 && x.near > x.settled / 2 &&
                    x.regions > x.settled / 2 && x.orders > x.forced_orders + 1000);
}

/* The same of locks by values (windows/occupied.h). */
static void test_flags(void **state)
{
    (void)state;
    examination x = {
        .trials = {
            .context = &x, .ask = ask, .lists = true, .bundles = true, .every_witness = true}};
    mr_trial trial = {0};
    uint64_t traces = mr_number_from_environment(
        "FLAG_TRACES", mr_length_full() ? FLAG_TRACES : SHARE_FLAG_TRACES);
    for (uint64_t seed = 1; seed <= traces; seed++) {
        char text[MR_FLAGS_TEXT];
        mr_generate_flags(seed, text);
        trial.choice = seed;
        assert_true(mr_trial_text(&trial, text, mr_window_trials_trial, &x.trials));
        if (trial.wrong[0])
            fail_msg("seed %" PRIu64 ": %s\n%s", seed, trial.wrong, text);
    }
    print_message("%" PRIu64 " questions: %" PRIu64 " races, %" PRIu64 " settled, %" PRIu64
                  " by each stop; %" PRIu64 " orders, %" PRIu64 " of them forced\n",
                  x.questions, x.races, x.settled, x.each, x.orders, x.forced_orders);
    if (traces >= SHARE_FLAG_TRACES)
        assert_true(x.settled > x.questions / 100 && x.each > x.settled / 10 &&
                    x.orders > x.forced_orders + 1000);
}

/* ---- by hand: what is decided, and what is left ---- */

typedef struct known_case {
    const char *name, *text;
    uint32_t a, b;
    const char *value; /* "no", or the orders u<v that are known of rows and not forced */
} known_case;

static const known_case cases[] = {
    {"a section whose lock is kept is the last",
     "A|acq(l)|1\nA|w(x=1)|2\nA|rel(l)|3\nB|acq(l)|4\nB|w(x=2)|5\nA|w(x=3)|6\n", 5, 4,
     "0<3 1<3 2<3"},
    {"a write of another value that comes after all writers comes after the read",
     "A|w(f=1)|1\nA|w(f=1)|2\nB|r(f=1)|3\nA|w(f=0)|4\nB|w(x=1)|5\nA|w(x=2)|6\n", 4, 5, "2<3"},
    {"spinning until all have set the flag",
     "A|w(x=1)|1\nA|w(f=1)|2\nB|w(x=1)|3\nB|w(g=1)|4\nC|r(f=1)|5\nC|r(g=1)|6\nC|w(x=3)|7\n", 0, 6,
     "no"},
    {"either writer comes after the other access",
     "A|w(x=1)|1\nA|w(f=1)|2\nA|w(f=0)|3\nA|w(f=1)|4\nB|r(f=1)|5\nB|w(x=2)|6\n", 0, 5, "no"},
    {"a counter under a lock has one order",
     "A|acq(l)|1\nA|r(c=0)|2\nA|w(c=1)|3\nA|rel(l)|4\nA|w(x=1)|5\n"
     "B|acq(l)|6\nB|r(c=1)|7\nB|w(c=2)|8\nB|rel(l)|9\n"
     "C|acq(l)|10\nC|r(c=2)|11\nC|rel(l)|12\nC|w(x=2)|13\n",
     4, 12, "0<5 0<9 1<5 1<9 2<5 2<9 3<5 3<6 3<7 3<8 3<9 3<10 3<11 5<9 6<9 7<9 8<9 8<10 8<11"},
    {"a read may come before the first writes, which say who is inside at the start",
     "C|r(n=0)|1\nC|w(y=1)|2\nA|w(n=-2)|3\nA|w(y=2)|4\nA|fork(B)|5\nA|au(n=-2>0)|6\n"
     "B|au(n=0>-2)|7\nB|au(n=-2>0)|8\n",
     1, 3, "0<2"},
    {"a reader is counted and then sees that no writer is there, a writer is there and then sees "
     "no reader",
     "C|au(f=0>1)|1\nC|w(f=0)|2\nC|au(n=0>1)|3\nC|au(n=1>0)|4\n"
     "A|au(n=0>1)|5\nA|r(f=0)|6\nA|r(x=0)|7\nA|au(n=1>0)|8\n"
     "B|au(f=0>1)|9\nB|r(n=0)|10\nB|w(x=1)|11\nB|w(f=0)|12\n",
     6, 10, "no"},
};

static void describe(const mr_setup *setup, const question *q, char *found)
{
    const mr_window *w = setup->window;
    for (uint32_t u = 0; u < w->size; u++)
        for (uint32_t v = 0; v < w->size; v++)
            if (u != v && in_cone(w, q, u) && in_cone(w, q, v) && w->thread[u] != w->thread[v] &&
                mr_known_before(&q->known, u, v) && !mr_precedes(&setup->forced, u, v))
                sprintf(found + strlen(found), "%s%" PRIu32 "<%" PRIu32, *found ? " " : "", u, v);
}

static void test_by_hand(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const known_case *k = &cases[i];
        mr_setup setup;
        question q = {.first.stops = {{&k->a, 1}, {&k->b, 1}}};
        char found[256] = "";
        mr_eliminated answer = MR_ELIMINATED_ALL;
        mr_setup_open(&setup, k->text);
        mr_setup_window(&setup, 0, setup.trace->event_count, MR_MODEL_VALUE);
        if (!decide(&setup, &q, &answer) || answer == MR_ELIMINATED_ALL)
            strcpy(found, "no");
        else
            describe(&setup, &q, found);
        if (strcmp(found, k->value) != 0) {
            print_error("%s: '%s', expected '%s'\n", k->name, found, k->value);
            wrong++;
        }
        mr_setup_close(&setup);
    }
    assert_int_equal(wrong, 0);
}

/* Without steps or memory it passes on, and changes nothing. */
static void test_limits(void **state)
{
    (void)state;
    mr_setup setup;
    question q = {.first.stops = {{&cases[1].a, 1}, {&cases[1].b, 1}}};
    mr_eliminated answer = MR_ELIMINATED_NO_MEMORY;
    mr_setup_open(&setup, cases[1].text);
    mr_setup_window(&setup, 0, setup.trace->event_count, MR_MODEL_VALUE);
    assert_true(decide(&setup, &q, &answer));
    assert_int_equal(answer, MR_ELIMINATED_SOME);
    uint32_t required[THREADS], cone[THREADS];
    memcpy(required, q.first.required, sizeof required);
    memcpy(cone, q.first.cone, sizeof cone);
    const mr_eliminate_limits few[] = {{.effort = 1}, {.memory_bytes = 8}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mr_eliminate(&setup.forced, NULL, &q.first.goal, required, cone, &few[i],
                                      &q.known, &setup.arena),
                         MR_ELIMINATED_NOTHING);
        assert_memory_equal(required, q.first.required, sizeof required);
        assert_memory_equal(cone, q.first.cone, sizeof cone);
    }
    answer = MR_ELIMINATED_NO_MEMORY;
    for (uint64_t fail_at = 1; answer == MR_ELIMINATED_NO_MEMORY; fail_at++) {
        mr_arena arena;
        mr_arena_init(&arena);
        mr_memory_fail_after(fail_at);
        answer = mr_eliminate(&setup.forced, NULL, &q.first.goal, required, cone,
                              &(mr_eliminate_limits){0}, &q.known, &arena);
        mr_memory_fail_after(0);
        assert_true(answer != MR_ELIMINATED_NO_MEMORY || fail_at < 50);
        mr_arena_free(&arena);
    }
    assert_int_equal(answer, MR_ELIMINATED_SOME);
    mr_setup_close(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
