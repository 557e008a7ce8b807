/*
 * The formula of a candidate says what docs/semantics.md says: on random traces it is satisfiable,
 * by trying every order, iff exhaustive search has the race; and window by window for each kind of
 * constraint. Neither Z3 nor the rest of the solver is in this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encoder/encoding.h"
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

/* Builds the formula of two lists of window events; false: all pairs fall to filter or cone. */
static bool encode_any(mr_setup *setup, mr_stops a, mr_stops b, size_t max_clauses,
                       mr_encoding *encoding)
{
    const mr_window *w = setup->window;
    const mr_precedence *forced = &setup->forced;
    uint32_t *required = mr_arena_alloc(&setup->arena, w->thread_count, sizeof *required);
    uint32_t *allowed = mr_arena_alloc(&setup->arena, w->thread_count, sizeof *allowed);
    uint32_t *cone = mr_arena_alloc(&setup->arena, w->thread_count, sizeof *cone);
    assert_true(required && allowed && cone);
    mr_stops *stops = mr_arena_alloc(&setup->arena, 2, sizeof *stops);
    mr_goal *race = mr_arena_alloc(&setup->arena, 1, sizeof *race);
    assert_true(stops && race);
    stops[0] = a;
    stops[1] = b;
    *race = (mr_goal){.stops = stops, .stop_count = 2};
    if (!mr_cone_narrow(forced, race))
        return false;
    assert_true(mr_cone_required(forced, race, required));
    mr_cone_allowed(forced, race, allowed);
    assert_true(mr_cone_close(&setup->hard, forced, required, allowed, race, cone, &setup->arena));
    for (uint32_t t = 0; t < w->thread_count; t++)
        assert_true(required[t] <= cone[t] && cone[t] <= allowed[t]);
    assert_true(mr_encoding_build(encoding, w, &setup->hard, forced, required, cone, race,
                                  &(mr_encoding_options){.max_clauses = max_clauses},
                                  &setup->arena));
    return true;
}

/* The same for two events. Narrowing agrees with what the two require. */
static bool encode(mr_setup *setup, uint32_t a, uint32_t b, size_t max_clauses,
                   mr_encoding *encoding)
{
    /* In the arena, since the encoding goes on pointing there. */
    uint32_t *events = mr_arena_alloc(&setup->arena, 2, sizeof *events);
    uint32_t *required =
        mr_arena_alloc(&setup->arena, setup->window->thread_count, sizeof *required);
    assert_true(events && required);
    events[0] = a;
    events[1] = b;
    bool built = encode_any(setup, (mr_stops){&events[0], 1}, (mr_stops){&events[1], 1},
                            max_clauses, encoding);
    assert_int_equal(built, mr_cone_required(&setup->forced, MR_RACE_OF(a, b), required));
    return built;
}

/* ---- against exhaustive search ---- */

typedef struct totals {
    size_t satisfiable, unsatisfiable, too_large;
    size_t lists, lists_satisfiable;
} totals;

static void check_solution(const mr_setup *setup, mr_checker *checker, const mr_encoding *encoding,
                           const int64_t *order, uint32_t a, uint32_t b, const char *text)
{
    const mr_window *w = setup->window;
    uint32_t count;
    mr_arena arena;
    mr_error error = {0};
    mr_arena_init(&arena);
    uint32_t *events = mr_schedule_of_solution(encoding, order, &count, &arena);
    assert_non_null(events);
    for (uint32_t i = 0; i < count; i++)
        events[i] += w->start;
    mr_witness witness = {.first = w->start + a,
                          .second = w->start + b,
                          .window_start = w->start,
                          .window_end = w->end,
                          .model = w->model,
                          .events = events,
                          .event_count = count};
    if (mr_checker_check(checker, &witness, &error) != MR_OK)
        fail_msg("%" PRIu32 "-%" PRIu32 " in [%" PRIu32 ", %" PRIu32 "), %s: %s\n%s", witness.first,
                 witness.second, w->start, w->end, mr_model_name(w->model), error.text, text);
    mr_arena_free(&arena);
}

static void check_pair(mr_setup *setup, mr_checker *checker, const mr_exhaustive *races, uint32_t a,
                       uint32_t b, const char *text, totals *sum)
{
    const mr_window *w = setup->window;
    mr_encoding encoding;
    int64_t order[MR_SEARCH_NODES];
    bool race = mr_exhaustive_has(races, w->start + a, w->start + b), satisfiable = false;
    if (encode(setup, a, b, 0, &encoding)) {
        if (!mr_formula_searchable(&encoding.formula)) {
            sum->too_large++;
            mr_encoding_free(&encoding);
            return;
        }
        satisfiable = mr_formula_search(&encoding.formula, order);
        if (satisfiable)
            check_solution(setup, checker, &encoding, order, a, b, text);
        mr_encoding_free(&encoding);
        sum->satisfiable += satisfiable;
        sum->unsatisfiable += !satisfiable;
    }
    if (satisfiable != race)
        fail_msg("%" PRIu32 "-%" PRIu32 " in [%" PRIu32 ", %" PRIu32 "), %s: formula says %d\n%s",
                 w->start + a, w->start + b, w->start, w->end, mr_model_name(w->model), satisfiable,
                 text);
}

/* The accesses of a thread to a variable, all of them or (with `thin`) some, writes only when asked
 * for. */
static uint32_t collect(const mr_window *w, uint32_t thread, uint32_t variable, bool writes,
                        mr_random *thin, uint32_t *events)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < mr_window_length(w, thread); k++) {
        uint32_t event = mr_window_at(w, thread, k);
        uint8_t op = mr_window_op(w, event);
        /* Lists of which each pair conflicts: plain writes, and whatever else. */
        if ((op == MR_OP_WRITE || (mr_op_is_access(op) && !writes)) &&
            w->object[event] == variable && mr_random_percent(thin, 80))
            events[count++] = event;
    }
    return count;
}

/* Two lists at once: satisfiable iff some pair of them is a race, and then a solution shows one. */
static void check_lists(mr_setup *setup, mr_checker *checker, const mr_exhaustive *races,
                        mr_stops a, mr_stops b, const char *text, totals *sum)
{
    const mr_window *w = setup->window;
    mr_encoding encoding;
    int64_t order[MR_SEARCH_NODES];
    bool race = false, satisfiable = false;
    for (uint32_t i = 0; i < a.count; i++)
        for (uint32_t j = 0; j < b.count; j++) {
            uint32_t one = w->start + a.events[i], two = w->start + b.events[j];
            race = race || mr_exhaustive_has(races, one < two ? one : two, one < two ? two : one);
        }
    if (encode_any(setup, a, b, 0, &encoding)) {
        if (!mr_formula_searchable(&encoding.formula)) {
            sum->too_large++;
            mr_encoding_free(&encoding);
            return;
        }
        satisfiable = mr_formula_search(&encoding.formula, order);
        if (satisfiable) {
            uint32_t one = mr_schedule_stop(&encoding, &encoding.goal->stops[0], order);
            uint32_t two = mr_schedule_stop(&encoding, &encoding.goal->stops[1], order);
            check_solution(setup, checker, &encoding, order, one < two ? one : two,
                           one < two ? two : one, text);
        }
        mr_encoding_free(&encoding);
    }
    sum->lists++;
    sum->lists_satisfiable += satisfiable;
    if (satisfiable != race)
        fail_msg("lists from %" PRIu32 " and %" PRIu32 " in [%" PRIu32 ", %" PRIu32
                 "), %s: formula says %d\n%s",
                 w->start + a.events[0], w->start + b.events[0], w->start, w->end,
                 mr_model_name(w->model), satisfiable, text);
}

static void check_all_lists(mr_setup *setup, mr_checker *checker, const mr_exhaustive *races,
                            mr_random *random, const char *text, totals *sum)
{
    const mr_window *w = setup->window;
    for (uint32_t v = 0; v < w->variable_count; v++) {
        for (uint32_t one = 0; one < w->thread_count; one++) {
            for (uint32_t two = 0; two < w->thread_count; two++) {
                uint32_t events[2][MR_EXHAUSTIVE_EVENTS];
                mr_stops a = {events[0], collect(w, one, v, true, random, events[0])};
                mr_stops b = {events[1], collect(w, two, v, false, random, events[1])};
                if (one != two && a.count && b.count && a.count + b.count > 2)
                    check_lists(setup, checker, races, a, b, text, sum);
            }
        }
    }
}

static void check_trace(const char *text, uint64_t seed, totals *sum)
{
    mr_setup setup;
    mr_random random = {seed};
    mr_setup_open(&setup, text);
    mr_checker *checker = mr_checker_new(setup.trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    uint32_t count = setup.trace->event_count;
    uint32_t start = mr_random_below(&random, count / 2 + 1);
    uint32_t end = seed % 3 ? count : mr_random_range(&random, start, count);
    for (int model = 0; model < 3; model++) {
        mr_exhaustive races;
        mr_setup_window(&setup, start, end, (mr_model)model);
        assert_true(mr_exhaustive_find(setup.trace, (mr_model)model, start, end, &races));
        for (uint32_t a = 0; a < end - start; a++)
            for (uint32_t b = a + 1; b < end - start; b++)
                if (mr_exhaustive_conflict(setup.trace, start + a, start + b))
                    check_pair(&setup, checker, &races, a, b, text, sum);
        check_all_lists(&setup, checker, &races, &random, text, sum);
        mr_exhaustive_free(&races);
    }
    mr_checker_free(checker);
    mr_setup_close(&setup);
}

static void test_random_traces(void **state)
{
    (void)state;
    totals sum = {0};
    for (uint64_t seed = 0; seed < 250; seed++) {
        for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
            char *text = mr_generate_trace(seed + 60000, (mr_shape)shape);
            assert_non_null(text);
            check_trace(text, seed, &sum);
            free(text);
        }
    }
    print_message("%zu satisfiable, %zu not, %zu too large to try; %zu of %zu pairs of lists\n",
                  sum.satisfiable, sum.unsatisfiable, sum.too_large, sum.lists_satisfiable,
                  sum.lists);
    assert_true(sum.satisfiable > 5000 && sum.unsatisfiable > 300);
}

/* ---- by hand ---- */

/*
 * The formula of a pair of trace events, written with the events: "0<1" an edge, "0<1|2<3" a
 * clause, "C" the CUT, "+k" and "-k" choices; sorted as built. A formula that contradicts itself is
 * "false", a pair that the cone settles is "cone".
 */
typedef struct known {
    const char *name, *text;
    uint32_t start, first, second;
    const char *rf, *value; /* NULL: as rf */
} known;

static const known table[] = {
    /* race and program order */
    {"nothing is needed", "A|w(x=1)|1\nB|w(x=2)|2\n", 0, 0, 1, "", NULL},
    {"what no constraint names is no node", "A|w(y=1)|1\nA|w(x=1)|2\nB|w(z=1)|3\nB|w(x=2)|4\n", 0,
     1, 3, "", NULL},
    {"one needs the other", "A|w(x=1)|1\nA|w(y=1)|2\nB|r(y=1)|3\nB|w(x=2)|4\n", 0, 0, 3, "cone",
     NULL},
    /* fork and join */
    {"fork", "A|w(y=1)|1\nA|fork(B)|2\nA|w(x=1)|3\nB|w(y=2)|4\nB|w(x=2)|5\n", 0, 2, 4,
     "1<3 1<C 3<C", NULL},
    {"fork of the thread of an access without events", "A|fork(B)|1\nA|w(x=1)|2\nB|w(x=2)|3\n", 0,
     1, 2, "", NULL},
    {"fork before the window", "A|fork(B)|1\nA|w(x=1)|2\nB|w(y=2)|3\nB|w(x=2)|4\n", 1, 1, 3, "",
     NULL},
    {"join", "C|w(y=1)|1\nC|w(z=1)|2\nA|join(C)|3\nA|w(x=1)|4\nB|w(x=2)|5\n", 0, 3, 4,
     "1<2 2<C 0<1 1<C", "1<2 2<C 1<C 0<1"},
    /* locks */
    {"two sections", "A|acq(l)|1\nA|rel(l)|2\nA|w(x=1)|3\nB|acq(l)|4\nB|rel(l)|5\nB|w(x=2)|6\n", 0,
     2, 5, "1<3|4<0 1<C 4<C 0<1 3<4", NULL},
    {"one is left open at the race",
     "A|acq(l)|1\nA|w(x=1)|2\nA|rel(l)|3\nB|acq(l)|4\nB|rel(l)|5\nB|w(x=2)|6\n", 0, 1, 5,
     "4<0 0<C 4<C", NULL},
    {"both are", "A|acq(l)|1\nA|w(x=1)|2\nA|rel(l)|3\nB|acq(l)|4\nB|w(x=2)|5\nB|rel(l)|6\n", 0, 1,
     4, "false", NULL},
    {"held at the start of the window, release needed",
     "A|acq(l)|1\nA|w(y=1)|2\nA|rel(l)|3\nA|w(x=1)|4\nB|acq(l)|5\nB|w(x=2)|6\n", 1, 3, 5,
     "2<4 2<C 4<C", NULL},
    {"held at the start by a third thread",
     "C|acq(l)|1\nA|w(x=1)|2\nC|rel(l)|3\nB|acq(l)|4\nB|w(x=2)|5\n", 1, 1, 4, "2<3 2<C 3<C", NULL},
    {"held at the start and for ever", "C|acq(l)|1\nA|w(x=1)|2\nB|w(x=2)|3\n", 1, 1, 2, "", NULL},
    {"a lock of one thread", "A|acq(l)|1\nA|rel(l)|2\nA|w(x=1)|3\nB|w(x=2)|4\n", 0, 2, 3, "", NULL},
    {"the inner acquire and release of a reentrant lock count for nothing",
     "A|acq(l)|1\nA|acq(l)|2\nA|rel(l)|3\nA|rel(l)|4\nA|w(x=1)|5\nB|acq(l)|6\nB|w(x=2)|7\n", 0, 4,
     6, "3<5 3<C 5<C", NULL},
    /* reads, by source */
    {"a read and its write", "A|w(y=1)|1\nB|r(y=1)|2\nB|w(x=2)|3\nC|w(x=1)|4\n", 0, 2, 3,
     "0<1 0<C 1<C", "+0 -0|0<1 0<C 1<C"},
    {"a read that saw no write of the window, and a write that must wait",
     "B|r(y=1)|1\nA|w(y=2)|2\nA|w(x=1)|3\nB|w(x=2)|4\n", 0, 2, 3, "0<1 1<C 0<C",
     "+0 -0|0<1 1<C 0<C"},
    {"another write, which must not come between",
     "C|w(y=2)|1\nC|w(x=3)|2\nA|w(y=1)|3\nB|r(y=1)|4\nB|w(x=2)|5\n", 0, 1, 4,
     "2<3 0<2|3<0 0<C 2<C 3<C", "+0 -0|2<3 -0|0<2|3<0 0<C 2<C 3<C"},
    {"another write of the value need not keep away, and may do",
     "C|w(y=1)|1\nC|w(x=3)|2\nA|w(y=1)|3\nB|r(y=1)|4\nB|w(x=2)|5\n", 0, 1, 4,
     "2<3 0<2|3<0 0<C 2<C 3<C", "+0|+1 -0|2<3 -1|0<3 0<C 3<C"},
    {"the value may be the carried one",
     "C|w(y=1)|1\nA|w(y=1)|2\nB|r(y=1)|3\nB|w(x=2)|4\nC|w(x=1)|5\n", 1, 3, 4, "1<2 1<C 2<C",
     "+0|+1 -0|1<2 2<C"},
    {"what the release of a lock held at the start needs",
     "D|acq(l)|1\nD|w(y=1)|2\nE|w(y=2)|3\nE|w(x=1)|4\nD|r(y=2)|5\nD|rel(l)|6\nB|acq(l)|7\nB|w(x=2)|"
     "8\n",
     1, 3, 7, "1<2 1<4 2<4 2<C 4<5 5<6 5<C 6<C", "+0 -0|1<2 -0|2<4 1<4 2<C 4<5 5<6 5<C 6<C"},
    {"an optional read, before an optional release, is guarded",
     "D|acq(l)|1\nD|w(z=1)|2\nE|w(y=2)|3\nD|r(y=2)|4\nD|rel(l)|5\nC|r(z=1)|6\nC|w(x=1)|7\nB|acq(l)|"
     "8\n"
     "B|w(x=2)|9\n",
     0, 6, 8, "4<7 C<3|2<3 1<5 1<3 3<4 1<C 5<C 7<C",
     "4<7 C<3|+0 -0|2<3 +1 -1|1<5 1<3 3<4 1<C 5<C 7<C"},
};

static int append_literal(char *out, const mr_encoding *encoding, mr_literal literal)
{
    if (mr_is_choice(literal))
        return sprintf(out, "%c%" PRIu32, literal.v == MR_CHOICE ? '+' : '-', literal.u);
    char names[2][16];
    const uint32_t nodes[] = {literal.u, literal.v};
    for (int i = 0; i < 2; i++) {
        uint32_t event = encoding->event_of[nodes[i]];
        if (event == MR_NONE)
            strcpy(names[i], "C");
        else
            sprintf(names[i], "%" PRIu32, encoding->window->start + event);
    }
    return sprintf(out, "%s<%s", names[0], names[1]);
}

/* Clauses, then edges, each in the order in which they were added. */
static void print_formula(const mr_encoding *encoding, char *out)
{
    const mr_formula *f = &encoding->formula;
    size_t at = 0;
    *out = '\0';
    if (f->contradiction) {
        strcpy(out, "false");
        return;
    }
    char *begin = out;
    for (size_t k = 0; k < f->clause_count; k++) {
        out += sprintf(out, "%s", out > begin ? " " : "");
        for (size_t first = at; at < f->clause_ends[k]; at++) {
            out += sprintf(out, "%s", at > first ? "|" : "");
            out += append_literal(out, encoding, f->literals[at]);
        }
    }
    for (size_t i = 0; i < f->edge_count; i++) {
        out += sprintf(out, "%s", out > begin ? " " : "");
        out += append_literal(out, encoding, f->edges[i]);
    }
}

static int compare_words(const void *one, const void *two)
{
    return strcmp(*(char *const *)one, *(char *const *)two);
}

/* The words of a text, sorted, so that the order of adding does not matter. */
static void sort_words(const char *text, char *out)
{
    char copy[2048], *words[256] = {0};
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    qsort(words, count, sizeof *words, compare_words);
    *out = '\0';
    for (size_t i = 0; i < count; i++)
        out += sprintf(out, "%s%s", i ? " " : "", words[i]);
}

static void test_constraints(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const known *k = &table[i];
        mr_setup setup;
        mr_setup_open(&setup, k->text);
        for (int model = 0; model < 2; model++) {
            char text[2048] = "cone", found[2048], expected[2048];
            mr_encoding encoding;
            mr_setup_window(&setup, k->start, setup.trace->event_count, (mr_model)model);
            if (encode(&setup, k->first - k->start, k->second - k->start, 0, &encoding)) {
                print_formula(&encoding, text);
                mr_encoding_free(&encoding);
            }
            sort_words(text, found);
            sort_words(model == MR_MODEL_VALUE && k->value ? k->value : k->rf, expected);
            if (strcmp(found, expected) != 0) {
                print_error("%s, %s:\n  '%s'\n  '%s' expected\n", k->name,
                            mr_model_name((mr_model)model), found, expected);
                wrong++;
            }
        }
        mr_setup_close(&setup);
    }
    assert_int_equal(wrong, 0);
}

/* A limit on the size stops the encoding, at any point. */
static void test_limit(void **state)
{
    (void)state;
    const known *k = &table[18];
    mr_setup setup;
    mr_encoding encoding;
    mr_setup_open(&setup, k->text);
    mr_setup_window(&setup, 0, setup.trace->event_count, MR_MODEL_VALUE);
    assert_true(encode(&setup, k->first, k->second, 0, &encoding));
    size_t all = encoding.formula.edge_count + encoding.formula.clause_count;
    mr_encoding_free(&encoding);
    assert_true(all > 3);
    for (size_t limit = 1; limit <= all + 1; limit++) {
        assert_true(encode(&setup, k->first, k->second, limit, &encoding));
        assert_int_equal(encoding.formula.too_large, limit < all);
        mr_encoding_free(&encoding);
    }
    mr_setup_close(&setup);
}

static void test_no_memory(void **state)
{
    (void)state;
    const known *k = &table[18];
    bool complete = false;
    mr_setup setup;
    mr_setup_open(&setup, k->text);
    mr_setup_window(&setup, 0, setup.trace->event_count, MR_MODEL_VALUE);
    const mr_window *w = setup.window;
    uint32_t cone[8], required[8];
    const mr_goal *race = MR_RACE_OF(k->first, k->second);
    assert_true(mr_cone_required(&setup.forced, race, required));
    mr_cone_allowed(&setup.forced, race, cone);
    for (uint64_t fail_at = 1; !complete; fail_at++) {
        mr_arena arena;
        mr_encoding encoding = {0};
        mr_arena_init(&arena);
        mr_memory_fail_after(fail_at);
        complete = mr_encoding_build(&encoding, w, &setup.hard, &setup.forced, required, cone, race,
                                     &(mr_encoding_options){0}, &arena) &&
                   !encoding.formula.out_of_memory;
        mr_memory_fail_after(0);
        assert_true(complete || fail_at < 50);
        mr_encoding_free(&encoding);
        mr_arena_free(&arena);
    }
    mr_setup_close(&setup);
}

/* Were anything of this program to need the solver or Z3, the library would have brought it along.
 */
extern int mr_session_new(void) __attribute__((weak));
extern int mr_decide(void) __attribute__((weak));
extern int mr_predict(void) __attribute__((weak));

static void test_without_solver(void **state)
{
    (void)state;
    assert_true(mr_session_new == NULL);
    assert_true(mr_decide == NULL);
    assert_true(mr_predict == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constraints),    cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_limit),          cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_without_solver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
