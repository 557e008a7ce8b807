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

#include "solver/cone.h"
#include "solver/eliminate.h"
#include "support/exhaustive.h"
#include "support/random.h"
#include "support/setup.h"
#include "support/trials.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TRACES = 8000, DEFAULT_SEED = 31415926, THREADS = MR_EXHAUSTIVE_THREADS };

typedef struct examination {
    mr_setup setup;
    mr_exhaustive search;
    const char *wrong; /* NULL: nothing */
    uint32_t events[2];
    uint64_t questions, races, settled, settled_by_forced, orders, forced_orders, excluded;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
