/*
 * What eliminate.h says is certain, against every witness that exhaustive search finds: on random
 * traces with all kinds of operations, in all models, in windows cut at random, for pairs of
 * accesses and for lists.
 *
 *   ELIMINATE_TRACES, ELIMINATE_SEED, ELIMINATE_SHAPE choose other traces (support/trials.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "solver/cone.h"
#include "solver/eliminate.h"
#include "support/exhaustive.h"
#include "support/random.h"
#include "support/setup.h"
#include "support/trials.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TRACES = 8000, DEFAULT_SEED = 31415926, THREADS = MR_EXHAUSTIVE_THREADS };

typedef struct examination {
    mr_setup setup;
    mr_exhaustive search;
    const char *wrong; /* NULL: nothing */
    uint32_t events[2];
    uint64_t questions, races, settled, orders, forced_orders, excluded;
} examination;

/* A question and what became of it. */
typedef struct question {
    mr_stops stops[2], narrowed[2];
    uint32_t required[THREADS], cone[THREADS]; /* at first */
    uint32_t new_required[THREADS], new_cone[THREADS];
    mr_known known;
    uint8_t *on_the_way; /* one a state: 2 a witness ends here, 1 one comes through */
} question;

static bool in_list(const examination *x, const mr_stops *list, uint32_t trace_event)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (x->setup.window->start + list->events[i] == trace_event)
            return true;
    return false;
}

/* Marks the states of witnesses. How many witnesses end. */
static size_t mark_states(const examination *x, question *q)
{
    const mr_exhaustive *search = &x->search;
    size_t ends = 0;
    q->on_the_way = calloc(search->state_count, 1);
    assert_non_null(q->on_the_way);
    for (size_t i = 0; i < search->hit_count; i++) {
        const mr_exhaustive_hit *hit = &search->hits[i];
        const mr_pair *pair = &hit->race;
        if ((in_list(x, &q->stops[0], pair->first) && in_list(x, &q->stops[1], pair->second)) ||
            (in_list(x, &q->stops[1], pair->first) && in_list(x, &q->stops[0], pair->second))) {
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
    return mr_exhaustive_done(&x->search, state, x->setup.window->threads[thread].number);
}

static void say(examination *x, const char *wrong, uint32_t one, uint32_t two)
{
    if (x->wrong)
        return;
    x->wrong = wrong;
    x->events[0] = x->setup.window->start + one;
    x->events[1] = x->setup.window->start + two;
}

/* Each witness stops at the lists that are left, has L and nothing of E. */
static void check_ends(examination *x, const question *q)
{
    const mr_window *w = x->setup.window;
    for (size_t state = 0; state < x->search.state_count; state++) {
        if (q->on_the_way[state] != 2)
            continue;
        for (uint32_t t = 0; t < w->thread_count; t++) {
            uint32_t count = done(x, state, t);
            if (count < q->new_required[t])
                say(x, "is required, a witness does without", mr_window_at(w, t, count), 0);
            if (count > q->new_cone[t] && q->new_cone[t] < q->cone[t])
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
    const mr_window *w = x->setup.window;
    for (size_t state = 0; state < x->search.state_count; state++)
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
    const mr_window *w = x->setup.window;
    for (uint32_t u = 0; u < w->size; u++) {
        for (uint32_t v = 0; v < w->size; v++) {
            if (u == v || w->thread[u] == w->thread[v] || !in_cone(w, q, u) || !in_cone(w, q, v) ||
                !mr_known_before(&q->known, u, v))
                continue;
            x->orders++;
            x->forced_orders += mr_precedes(&x->setup.forced, u, v);
            if (!is_before(x, q, u, v))
                say(x, "are known to be in this order, a witness has another one", u, v);
            if (mr_known_before(&q->known, v, u))
                say(x, "are before each other", u, v);
        }
    }
}

/* Decides the question; false: filter and cone leave nothing. */
static bool ask(examination *x, question *q, mr_eliminated *answer)
{
    const mr_setup *setup = &x->setup;
    const mr_window *w = setup->window;
    mr_arena *arena = &x->setup.arena;
    uint32_t allowed[THREADS], last[2];
    if (!mr_cone_narrow(&setup->forced, &q->stops[0], &q->stops[1]))
        return false;
    mr_cone_required(&setup->forced, q->stops[0].events[0], q->stops[1].events[0], q->required);
    for (int i = 0; i < 2; i++)
        last[i] = q->stops[i].events[q->stops[i].count - 1];
    mr_cone_allowed(&setup->forced, last[0], last[1], allowed);
    assert_true(
        mr_cone_close(&setup->hard, &setup->forced, q->required, allowed, last, q->cone, arena));
    memcpy(q->new_required, q->required, w->thread_count * sizeof *q->required);
    memcpy(q->new_cone, q->cone, w->thread_count * sizeof *q->cone);
    memcpy(q->narrowed, q->stops, sizeof q->stops);
    *answer = mr_eliminate(&setup->forced, q->narrowed, q->new_required, q->new_cone,
                           &(mr_eliminate_limits){0}, &q->known, arena);
    return true;
}

static void examine_question(examination *x, mr_stops a, mr_stops b)
{
    question q = {.stops = {a, b}};
    mr_eliminated answer;
    mr_arena_mark mark = mr_arena_get_mark(&x->setup.arena);
    if (ask(x, &q, &answer)) {
        size_t ends = mark_states(x, &q);
        x->questions++;
        x->races += ends > 0;
        x->settled += answer == MR_ELIMINATED_ALL;
        if (answer == MR_ELIMINATED_ALL && ends)
            say(x, "are no race, exhaustive search finds one", a.events[0], b.events[0]);
        if (answer != MR_ELIMINATED_ALL) {
            assert_int_equal(answer, MR_ELIMINATED_SOME);
            x->excluded += memcmp(q.cone, q.new_cone, sizeof q.cone) != 0;
            check_ends(x, &q);
            check_order(x, &q);
        }
        free(q.on_the_way);
    }
    mr_arena_release(&x->setup.arena, mark);
}

/* The accesses of the event's thread to its variable, by the same operation, from it on. */
static mr_stops list_from(const mr_window *w, uint32_t event, uint32_t *events)
{
    uint32_t count = 0;
    for (uint32_t i = event; i < w->size; i++)
        if (w->thread[i] == w->thread[event] && mr_window_op(w, i) == mr_window_op(w, event) &&
            w->object[i] == w->object[event])
            events[count++] = i;
    return (mr_stops){events, count};
}

static void examine_window(examination *x)
{
    const mr_window *w = x->setup.window;
    for (uint32_t a = 0; a < w->size; a++) {
        for (uint32_t b = a + 1; b < w->size && !x->wrong; b++) {
            uint32_t events[2][MR_EXHAUSTIVE_EVENTS];
            if (!mr_exhaustive_conflict(w->trace, w->start + a, w->start + b))
                continue;
            examine_question(x, (mr_stops){&a, 1}, (mr_stops){&b, 1});
            mr_stops one = list_from(w, a, events[0]), two = list_from(w, b, events[1]);
            if (one.count + two.count > 2)
                examine_question(x, one, two);
        }
    }
}

static void examine_trace(examination *x, mr_trial *trial, const mr_random *seed)
{
    mr_random random = *seed;
    uint32_t count = trial->trace->event_count;
    for (int model = 0; model <= MR_MODEL_BRANCH && !x->wrong && count > 1; model++) {
        bool whole = mr_random_percent(&random, 60);
        uint32_t start = whole ? 0 : mr_random_below(&random, count / 2);
        uint32_t end = whole ? count : mr_random_range(&random, start + 1, count);
        mr_exhaustive_options options = {.model = (mr_model)model, .whole = true};
        mr_setup_window(&x->setup, start, end, (mr_model)model);
        assert_true(mr_exhaustive_find_with(trial->trace, &options, start, end, &x->search));
        examine_window(x);
        mr_exhaustive_free(&x->search);
        if (x->wrong)
            mr_trial_wrong(
                trial, "%" PRIu32 " (and %" PRIu32 ") %s, in [%" PRIu32 ", %" PRIu32 "), %s",
                x->events[0], x->events[1], x->wrong, start, end, mr_model_name((mr_model)model));
    }
}

static void examine(mr_trial *trial, void *context)
{
    examination *x = context;
    mr_random random = {trial->choice};
    x->wrong = NULL;
    mr_setup_take(&x->setup, trial->trace);
    examine_trace(x, trial, &random);
    mr_setup_give_back(&x->setup);
}

static void test_random_traces(void **state)
{
    (void)state;
    examination x = {0};
    const mr_trials trials = {
        .prefix = "ELIMINATE", .traces = DEFAULT_TRACES, .seed = DEFAULT_SEED, .all_kinds = true};
    uint64_t traces = mr_trials_run(&trials, examine, &x);
    print_message("%" PRIu64 " questions: %" PRIu64 " races, %" PRIu64 " settled, %" PRIu64
                  " with a smaller cone; %" PRIu64 " orders, %" PRIu64 " of them forced\n",
                  x.questions, x.races, x.settled, x.excluded, x.orders, x.forced_orders);
    if (traces >= DEFAULT_TRACES) /* the soundness of nothing would say nothing */
        assert_true(x.settled > x.questions / 100 && x.orders > x.forced_orders + 1000);
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
};

static void describe(const examination *x, const question *q, char *found)
{
    const mr_window *w = x->setup.window;
    for (uint32_t u = 0; u < w->size; u++)
        for (uint32_t v = 0; v < w->size; v++)
            if (u != v && in_cone(w, q, u) && in_cone(w, q, v) && w->thread[u] != w->thread[v] &&
                mr_known_before(&q->known, u, v) && !mr_precedes(&x->setup.forced, u, v))
                sprintf(found + strlen(found), "%s%" PRIu32 "<%" PRIu32, *found ? " " : "", u, v);
}

static void test_by_hand(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const known_case *k = &cases[i];
        examination x = {0};
        question q = {.stops = {{&k->a, 1}, {&k->b, 1}}};
        char found[256] = "";
        mr_eliminated answer = MR_ELIMINATED_ALL;
        mr_setup_open(&x.setup, k->text);
        mr_setup_window(&x.setup, 0, x.setup.trace->event_count, MR_MODEL_VALUE);
        if (!ask(&x, &q, &answer) || answer == MR_ELIMINATED_ALL)
            strcpy(found, "no");
        else
            describe(&x, &q, found);
        if (strcmp(found, k->value) != 0) {
            print_error("%s: '%s', expected '%s'\n", k->name, found, k->value);
            wrong++;
        }
        mr_setup_close(&x.setup);
    }
    assert_int_equal(wrong, 0);
}

/* Without steps or memory it passes on, and changes nothing. */
static void test_limits(void **state)
{
    (void)state;
    examination x = {0};
    question q = {.stops = {{&cases[1].a, 1}, {&cases[1].b, 1}}};
    mr_eliminated answer = MR_ELIMINATED_NO_MEMORY;
    mr_setup_open(&x.setup, cases[1].text);
    mr_setup_window(&x.setup, 0, x.setup.trace->event_count, MR_MODEL_VALUE);
    assert_true(ask(&x, &q, &answer));
    assert_int_equal(answer, MR_ELIMINATED_SOME);
    uint32_t required[THREADS], cone[THREADS];
    memcpy(required, q.required, sizeof required);
    memcpy(cone, q.cone, sizeof cone);
    const mr_eliminate_limits few[] = {{.steps = 1}, {.memory_bytes = 8}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mr_eliminate(&x.setup.forced, q.stops, required, cone, &few[i], &q.known,
                                      &x.setup.arena),
                         MR_ELIMINATED_NOTHING);
        assert_memory_equal(required, q.required, sizeof required);
        assert_memory_equal(cone, q.cone, sizeof cone);
    }
    answer = MR_ELIMINATED_NO_MEMORY;
    for (uint64_t fail_at = 1; answer == MR_ELIMINATED_NO_MEMORY; fail_at++) {
        mr_arena arena;
        mr_arena_init(&arena);
        mr_memory_fail_after(fail_at);
        answer = mr_eliminate(&x.setup.forced, q.stops, required, cone, &(mr_eliminate_limits){0},
                              &q.known, &arena);
        mr_memory_fail_after(0);
        assert_true(answer != MR_ELIMINATED_NO_MEMORY || fail_at < 50);
        mr_arena_free(&arena);
    }
    assert_int_equal(answer, MR_ELIMINATED_SOME);
    mr_setup_close(&x.setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
