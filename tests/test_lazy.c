/*
 * Clauses made on demand say no more and no less than the whole formula: on random traces every
 * race of exhaustive search satisfies all that any orders have asked for, whatever the stages, and
 * the first order that asks for nothing is a witness; without one there is no race.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encoder/lazy.h"
#include "solver/cone.h"
#include "solver/schedule.h"
#include "support/exhaustive.h"
#include "support/formula_search.h"
#include "support/generate.h"
#include "support/setup.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHOICES = 12, MOST_NODES = 64, RANDOM_ORDERS = 4, STAGES = 3 };

typedef struct totals {
    size_t witnesses, clauses, extended; /* tried; made for them; reads extended */
    size_t satisfiable, unsatisfiable;   /* decided by trying */
    size_t too_large;
} totals;

typedef struct trial {
    mr_setup setup;
    mr_checker *checker;
    mr_exhaustive races;
    mr_random random;
    const char *text;
    totals *sum;
} trial;

/* False: filter or cone settle the pair. `events`: a and b, as long as the encoding lives. */
static bool build(trial *t, const uint32_t events[2], uint32_t stage, mr_encoding *encoding)
{
    const mr_window *w = t->setup.window;
    const mr_precedence *forced = &t->setup.forced;
    mr_arena *arena = &t->setup.arena;
    uint32_t *arrays[3]; /* L, U, C */
    for (int i = 0; i < 3; i++)
        assert_non_null(arrays[i] = mr_arena_alloc(arena, w->thread_count, sizeof(uint32_t)));
    mr_stops *stops = mr_arena_alloc(arena, 2, sizeof *stops);
    mr_goal *race = mr_arena_alloc(arena, 1, sizeof *race);
    assert_true(stops && race);
    *race = (mr_goal){.stops = stops, .stop_count = 2};
    for (int i = 0; i < 2; i++)
        stops[i] = (mr_stops){&events[i], 1};
    if (!mr_cone_required(forced, race, arrays[0]))
        return false;
    mr_cone_allowed(forced, race, arrays[1]);
    assert_true(
        mr_cone_close(&t->setup.hard, forced, arrays[0], arrays[1], race, arrays[2], arena));
    const mr_encoding_options options = {.lazy = true, .stage = stage};
    assert_true(mr_encoding_build(encoding, w, &t->setup.hard, forced, arrays[0], arrays[2], race,
                                  &options, arena));
    return true;
}

/* Choices with which the order is a solution, as few true as can be. */
static bool find_choices(const mr_formula *formula, const int64_t *order, bool *choices)
{
    bool found[MOST_CHOICES];
    uint32_t fewest = MOST_CHOICES + 1;
    for (uint32_t all = 0; all < UINT32_C(1) << formula->choice_count; all++) {
        uint32_t count = (uint32_t)__builtin_popcount(all);
        for (uint32_t c = 0; c < formula->choice_count; c++)
            found[c] = all >> c & 1;
        if (count < fewest && mr_formula_holds(formula, order, found)) {
            fewest = count;
            memcpy(choices, found, formula->choice_count);
        }
    }
    return fewest <= MOST_CHOICES;
}

static void wrong(const trial *t, const uint32_t *events, uint32_t stage, const char *what)
{
    const mr_window *w = t->setup.window;
    fail_msg("%s: %" PRIu32 "-%" PRIu32 " in [%" PRIu32 ", %" PRIu32 "), %s, stage %" PRIu32 "\n%s",
             what, w->start + events[0], w->start + events[1], w->start, w->end,
             mr_model_name(w->model), stage, t->text);
}

/* A random order that keeps the edges. */
static void random_order(mr_random *random, const mr_formula *formula, int64_t *order)
{
    uint32_t count = formula->node_count;
    bool placed[MOST_NODES] = {false};
    for (uint32_t position = 0; position < count;) {
        uint32_t node = mr_random_below(random, count);
        bool free = !placed[node];
        for (size_t e = 0; e < formula->edge_count && free; e++)
            free = formula->edges[e].v != node || placed[formula->edges[e].u];
        if (!free)
            continue;
        placed[node] = true;
        order[node] = position++;
    }
}

/* Clauses that no search might have asked for. */
static void refute_at_random(trial *t, mr_encoding *encoding)
{
    int64_t order[MOST_NODES];
    uint8_t choices[1024];
    for (int i = 0; i < RANDOM_ORDERS && !encoding->formula.contradiction; i++) {
        uint32_t added;
        random_order(&t->random, &encoding->formula, order);
        for (uint32_t c = 0; c < encoding->formula.choice_count && c < sizeof choices; c++)
            choices[c] = (uint8_t)mr_random_below(&t->random, 3);
        if (encoding->formula.choice_count > sizeof choices)
            return;
        assert_true(mr_lazy_refute(encoding, order, choices, &added));
    }
    for (size_t i = 0; i < encoding->lazy->read_count; i++)
        t->sum->extended +=
            encoding->lazy->stage && encoding->lazy->reads[i].offered > encoding->lazy->stage;
}

/* The order of a witness: its events of C, CUT, the rest as in the trace. */
static void witness_order(const mr_encoding *encoding, const mr_witness *witness, int64_t *order)
{
    const mr_window *w = encoding->window;
    int64_t next = 0;
    for (uint32_t node = 0; node < encoding->formula.node_count; node++)
        order[node] = -1;
    for (uint32_t i = 0; i < witness->event_count; i++) {
        uint32_t node = mr_encoding_find(encoding, witness->events[i] - w->start);
        if (node && mr_encoding_in_cone(encoding, witness->events[i] - w->start))
            order[node - 1] = next++;
    }
    order[encoding->cut] = next++;
    for (uint32_t event = 0; event < w->size; event++)
        if (mr_encoding_find(encoding, event) && order[mr_encoding_find(encoding, event) - 1] < 0)
            order[mr_encoding_find(encoding, event) - 1] = next++;
}

/* A witness satisfies what was asked for, and in the end nothing more is. */
static void check_witness(trial *t, size_t race, const uint32_t *events, uint32_t stage)
{
    mr_encoding encoding;
    mr_witness witness;
    int64_t order[MOST_NODES];
    uint32_t added = 1;
    if (!build(t, events, stage, &encoding))
        wrong(t, events, stage, "settled by the cone");
    assert_true(mr_exhaustive_witness(&t->races, race, &witness));
    if (encoding.formula.node_count <= MOST_NODES) {
        t->sum->witnesses++;
        refute_at_random(t, &encoding);
        witness_order(&encoding, &witness, order);
        while (added && encoding.formula.choice_count <= MOST_CHOICES) {
            bool choices[MOST_CHOICES];
            uint8_t values[MOST_CHOICES];
            if (!find_choices(&encoding.formula, order, choices))
                wrong(t, events, stage, "a clause forbids a witness");
            for (uint32_t c = 0; c < encoding.formula.choice_count; c++)
                values[c] = choices[c];
            assert_true(mr_lazy_refute(&encoding, order, values, &added));
        }
        t->sum->too_large += added > 0;
        t->sum->clauses += encoding.formula.clause_count;
    }
    mr_witness_free(&witness);
    mr_encoding_free(&encoding);
}

static void check_schedule(const trial *t, const mr_encoding *encoding, const int64_t *order,
                           const uint32_t *events, uint32_t stage)
{
    const mr_window *w = t->setup.window;
    mr_error error = {0};
    mr_arena arena;
    uint32_t count;
    mr_arena_init(&arena);
    uint32_t *list = mr_schedule_of_solution(encoding, order, &count, &arena);
    assert_non_null(list);
    for (uint32_t i = 0; i < count; i++)
        list[i] += w->start;
    mr_witness witness = {.first = w->start + events[0],
                          .second = w->start + events[1],
                          .window_start = w->start,
                          .window_end = w->end,
                          .model = w->model,
                          .events = list,
                          .event_count = count};
    if (mr_checker_check(t->checker, &witness, &error) != MR_OK)
        wrong(t, events, stage, error.text);
    mr_arena_free(&arena);
}

/* Solves by trying, adding what the solutions violate, until there is none or nothing is added. */
static void check_verdict(trial *t, const uint32_t *events, uint32_t stage, bool race)
{
    mr_encoding encoding;
    int64_t order[MR_SEARCH_NODES];
    uint32_t added = 1;
    bool satisfiable = true;
    if (!build(t, events, stage, &encoding)) {
        if (race)
            wrong(t, events, stage, "settled by the cone");
        return;
    }
    while (added && satisfiable && mr_formula_searchable(&encoding.formula)) {
        bool choices[MOST_CHOICES];
        uint8_t values[MOST_CHOICES];
        satisfiable = mr_formula_search(&encoding.formula, order);
        if (!satisfiable)
            break;
        assert_true(find_choices(&encoding.formula, order, choices));
        for (uint32_t c = 0; c < encoding.formula.choice_count; c++)
            values[c] = choices[c];
        assert_true(mr_lazy_refute(&encoding, order, values, &added));
    }
    if (!mr_formula_searchable(&encoding.formula) && !encoding.formula.contradiction) {
        t->sum->too_large++;
    } else {
        if (satisfiable != race)
            wrong(t, events, stage, satisfiable ? "no race" : "a race is missed");
        if (satisfiable)
            check_schedule(t, &encoding, order, events, stage);
        t->sum->satisfiable += satisfiable;
        t->sum->unsatisfiable += !satisfiable;
    }
    mr_encoding_free(&encoding);
}

static void check_window(trial *t, uint32_t start, uint32_t end, mr_model model)
{
    mr_setup_window(&t->setup, start, end, model);
    assert_true(mr_exhaustive_find(t->setup.trace, model, start, end, &t->races));
    for (uint32_t a = 0; a < end - start; a++) {
        for (uint32_t b = a + 1; b < end - start; b++) {
            const uint32_t events[2] = {a, b};
            if (!mr_exhaustive_conflict(t->setup.trace, start + a, start + b))
                continue;
            for (uint32_t stage = 0; stage < STAGES; stage++)
                check_verdict(t, events, stage, mr_exhaustive_has(&t->races, start + a, start + b));
        }
    }
    for (size_t i = 0; i < t->races.race_count; i++) {
        const uint32_t events[2] = {t->races.races[i].first - start,
                                    t->races.races[i].second - start};
        check_witness(t, i, events, (uint32_t)i % STAGES);
    }
    mr_exhaustive_free(&t->races);
}

static void test_random_traces(void **state)
{
    (void)state;
    totals sum = {0};
    for (uint64_t seed = 0; seed < 60; seed++) {
        for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
            char *text = mr_generate_trace(seed + 91000, (mr_shape)shape);
            assert_non_null(text);
            trial t = {.random = {seed}, .text = text, .sum = &sum};
            mr_setup_open(&t.setup, text);
            t.checker = mr_checker_new(t.setup.trace, MR_OPAQUE_PAIR);
            assert_non_null(t.checker);
            uint32_t count = t.setup.trace->event_count;
            uint32_t start = seed % 2 ? mr_random_below(&t.random, count / 2 + 1) : 0;
            for (int model = 0; model < 3; model++)
                check_window(&t, start, count, (mr_model)model);
            mr_checker_free(t.checker);
            mr_setup_close(&t.setup);
            free(text);
        }
    }
    print_message("%zu witnesses, %zu clauses, %zu times more sources; %zu satisfiable, %zu not, "
                  "%zu too large to try\n",
                  sum.witnesses, sum.clauses, sum.extended, sum.satisfiable, sum.unsatisfiable,
                  sum.too_large);
    assert_true(sum.witnesses > 1000 && sum.extended > 20);
    assert_true(sum.satisfiable > 1000 && sum.unsatisfiable > 50);
}

/* Of a hot lock only the pairs that are open together are made. */
static void test_few_clauses(void **state)
{
    (void)state;
    enum { SECTIONS = 200 };
    static char text[SECTIONS * 64 + 64];
    size_t length = 0;
    for (int i = 0; i < SECTIONS; i++)
        length +=
            (size_t)sprintf(text + length, "%c|acq(l)|1\n%c|rel(l)|2\n", 'A' + i % 2, 'A' + i % 2);
    sprintf(text + length, "A|w(x=1)|3\nB|w(x=2)|4\n");
    totals sum = {0};
    trial t = {.text = text, .sum = &sum};
    mr_encoding encoding;
    static int64_t order[2 * SECTIONS + 1];
    const uint32_t events[2] = {2 * SECTIONS, 2 * SECTIONS + 1};
    uint32_t added;
    mr_setup_open(&t.setup, text);
    mr_setup_window(&t.setup, 0, 2 * SECTIONS + 2, MR_MODEL_VALUE);
    assert_true(build(&t, events, 0, &encoding));
    assert_int_equal(encoding.formula.clause_count, 0);
    for (uint32_t node = 0; node < encoding.formula.node_count; node++)
        order[node] =
            encoding.event_of[node] == MR_NONE ? 2 * SECTIONS : (int64_t)encoding.event_of[node];
    assert_true(mr_lazy_refute(&encoding, order, NULL, &added)); /* the trace */
    assert_int_equal(added, 0);
    /* The second section of B is entered inside the fourth of A. */
    order[mr_encoding_find(&encoding, 6) - 1] = -1;
    for (uint32_t node = 0; node < encoding.formula.node_count; node++)
        order[node] *= 2;
    order[mr_encoding_find(&encoding, 6) - 1] = 2 * 12 + 1;
    order[mr_encoding_find(&encoding, 7) - 1] = 2 * 13 + 1;
    assert_true(mr_lazy_refute(&encoding, order, NULL, &added));
    assert_in_range(added, 1, 3);
    mr_encoding_free(&encoding);
    mr_setup_close(&t.setup);
}

/* How many clauses the order asks for in which two threads, which do the same, take turns. */
static uint32_t clauses_of_turns(const char *const ops[], uint32_t count)
{
    char text[1024];
    size_t length = 0;
    for (int thread = 'A'; thread <= 'B'; thread++)
        for (uint32_t i = 0; i < count; i++)
            length += (size_t)sprintf(text + length, "%c|%s|1\n", thread, ops[i]);
    sprintf(text + length, "A|w(x=1)|3\nB|w(x=2)|4\n");
    totals sum = {0};
    trial t = {.text = text, .sum = &sum};
    mr_encoding encoding;
    int64_t order[MOST_NODES];
    const uint32_t events[2] = {2 * count, 2 * count + 1};
    uint32_t added;
    mr_setup_open(&t.setup, text);
    mr_setup_window(&t.setup, 0, 2 * count + 2, MR_MODEL_VALUE);
    assert_true(build(&t, events, 0, &encoding));
    assert_true(encoding.formula.node_count <= MOST_NODES);
    for (uint32_t node = 0; node < encoding.formula.node_count; node++) {
        uint32_t event = encoding.event_of[node];
        order[node] = event == MR_NONE ? 2 * count : 2 * (event % count) + event / count;
    }
    assert_true(mr_lazy_refute(&encoding, order, NULL, &added));
    mr_encoding_free(&encoding);
    mr_setup_close(&t.setup);
    return added;
}

/* Of nests that are open together only the outermost pair gets a clause, as it implies the others. */
static void test_nests(void **state)
{
    (void)state;
    static const char *const nest[] = {"acq(l)", "acq(m)", "acq(n)", "rel(n)", "rel(m)", "rel(l)"};
    static const char *const other[] = {"acq(l)", "acq(m)", "rel(l)", "acq(n)", "rel(n)", "rel(m)"};
    static const char *const hand_over_hand[] = {"acq(l)", "acq(m)", "rel(l)",
                                                 "acq(n)", "rel(m)", "rel(n)"};
    assert_int_equal(clauses_of_turns(nest, 6), 1);
    assert_int_equal(clauses_of_turns(other, 6), 2);
    assert_int_equal(clauses_of_turns(hand_over_hand, 6), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_few_clauses),
        cmocka_unit_test(test_nests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
