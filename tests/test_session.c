/* Z3 asked about a formula that grows: models, cores, ties, limits; the same each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/session.h"
#include "support/random.h"

#include <pthread.h>
#include <string.h>

enum { NODES = 6 };

static const uint32_t ranks[NODES] = {UINT32_MAX, 0, 1, 2, 3, 4}; /* node 0 is last, as CUT */

static mr_formula new_formula(void)
{
    mr_formula formula;
    mr_formula_init(&formula, 0, 0);
    formula.node_count = NODES;
    return formula;
}

static void clause(mr_formula *formula, mr_literal one, mr_literal two)
{
    mr_formula_clause(formula, (mr_literal[]){one, two}, 2);
}

static void assert_solution(const mr_formula *formula, const int64_t *order, const uint8_t *choices)
{
    bool copy[8] = {0};
    for (uint32_t i = 0; choices && i < formula->choice_count; i++)
        copy[i] = choices[i];
    assert_true(mr_formula_holds(formula, order, copy));
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < i; j++)
            assert_true(order[i] != order[j]);
}

/* A formula is asked about, grows until it has no solution, and the session goes on. */
static void test_growing(void **state)
{
    (void)state;
    static const mr_settings settings[] = {MR_SETTINGS_TUNED, MR_SETTINGS_AS_IT_COMES};
    mr_session *session = mr_session_new();
    for (size_t i = 0; i < 2; i++) {
        mr_limits limits = {0};
        mr_formula formula = new_formula();
        int64_t order[NODES];
        uint8_t choices[1];
        mr_trouble trouble;
        mr_query *query = mr_query_begin(session, &limits, settings[i], ranks);
        assert_non_null(query);
        mr_formula_edge(&formula, 1, 2);
        assert_int_equal(mr_query_check(query, &formula, NULL, order, NULL), MR_ANSWER_SAT);
        assert_solution(&formula, order, NULL);
        formula.choice_count = 1;
        clause(&formula, mr_choice(0, true), mr_before(2, 1));
        clause(&formula, mr_before(3, 1), mr_before(4, 0));
        assert_int_equal(mr_query_check(query, &formula, NULL, order, choices), MR_ANSWER_SAT);
        assert_solution(&formula, order, choices);
        assert_int_equal(choices[0], 1);
        mr_formula_clause(&formula, (mr_literal[]){mr_choice(0, false)}, 1);
        assert_int_equal(mr_query_check(query, &formula, NULL, order, choices), MR_ANSWER_UNSAT);
        mr_query_end(query, &trouble);
        mr_formula_free(&formula);
    }
    mr_session_free(session);
}

/* The core names the assumptions that matter, and none when none does. */
static void test_cores(void **state)
{
    (void)state;
    static const uint32_t assumed[] = {0, 1, 2};
    mr_session *session = mr_session_new();
    mr_limits limits = {0};
    mr_formula formula = new_formula();
    int64_t order[NODES];
    uint8_t choices[3];
    bool in_core[3] = {true, true, true};
    mr_assumptions assumptions = {.choices = assumed, .count = 3, .in_core = in_core};
    mr_trouble trouble;
    mr_query *query = mr_query_begin(session, &limits, MR_SETTINGS_TUNED, ranks);
    assert_non_null(query);
    formula.choice_count = 3;
    mr_formula_edge(&formula, 1, 2);
    mr_formula_edge(&formula, 2, 3);
    clause(&formula, mr_choice(1, true), mr_before(3, 1));
    assert_int_equal(mr_query_check(query, &formula, &assumptions, order, choices),
                     MR_ANSWER_UNSAT);
    assert_false(in_core[0] || in_core[2]);
    assert_true(in_core[1]);
    assumptions.count = 1;
    assert_int_equal(mr_query_check(query, &formula, &assumptions, order, choices), MR_ANSWER_SAT);
    assert_solution(&formula, order, choices);
    assert_int_equal(choices[0], 0);
    mr_formula_clause(&formula, (mr_literal[]){mr_choice(1, false)}, 1);
    in_core[0] = true;
    assert_int_equal(mr_query_check(query, &formula, &assumptions, order, choices),
                     MR_ANSWER_UNSAT);
    assert_false(in_core[0]);
    mr_query_end(query, &trouble);
    mr_formula_free(&formula);
    mr_session_free(session);
}

/* Of what is open the order of the ranks is tried first. */
static void test_ranks(void **state)
{
    (void)state;
    mr_session *session = mr_session_new();
    mr_limits limits = {0};
    mr_formula formula = new_formula();
    int64_t order[NODES];
    mr_trouble trouble;
    for (uint32_t u = 1; u < NODES; u++)
        for (uint32_t v = u + 1; v < NODES; v++)
            clause(&formula, mr_before(u, v), mr_before(v, u));
    assert_int_equal(
        mr_session_solve(session, &formula, &limits, MR_SETTINGS_TUNED, ranks, order, &trouble),
        MR_ANSWER_SAT);
    for (uint32_t u = 1; u + 1 < NODES; u++)
        assert_true(order[u] < order[u + 1]);
    mr_formula_free(&formula);
    mr_session_free(session);
}

/* Random clauses, added a few at a time: the answers are those of a query of their own. */
static void test_random(void **state)
{
    (void)state;
    mr_session *session = mr_session_new();
    mr_limits limits = {0};
    size_t yes = 0, no = 0;
    for (uint64_t seed = 0; seed < 150; seed++) {
        mr_random random = {seed};
        mr_formula formula = new_formula();
        mr_trouble trouble;
        mr_answer answer = MR_ANSWER_SAT;
        mr_query *query = mr_query_begin(session, &limits, MR_SETTINGS_TUNED, ranks);
        assert_non_null(query);
        while (answer == MR_ANSWER_SAT && formula.clause_count < 60) {
            for (uint32_t k = mr_random_below(&random, 8); k <= 8; k++) {
                mr_literal some[2];
                for (int i = 0; i < 2; i++) {
                    uint32_t u = mr_random_below(&random, NODES);
                    some[i] = mr_before(u, (u + 1 + mr_random_below(&random, NODES - 1)) % NODES);
                }
                clause(&formula, some[0], some[1]);
            }
            int64_t order[NODES], other[NODES];
            answer = mr_query_check(query, &formula, NULL, order, NULL);
            if (answer == MR_ANSWER_SAT)
                assert_solution(&formula, order, NULL);
            yes += answer == MR_ANSWER_SAT;
            no += answer == MR_ANSWER_UNSAT;
            if (seed % 10 == 0) {
                mr_trouble ignored;
                mr_session *alone = mr_session_new();
                assert_int_equal(mr_session_solve(alone, &formula, &limits, MR_SETTINGS_AS_IT_COMES,
                                                  ranks, other, &ignored),
                                 answer);
                mr_session_free(alone);
            }
        }
        mr_query_end(query, &trouble);
        mr_formula_free(&formula);
    }
    assert_true(yes > 20 && no > 20);
    mr_session_free(session);
}

enum { MANY = 400 };

/* Random clauses over MANY nodes, whose ranks are their numbers. */
static mr_formula random_formula(uint64_t seed, uint32_t clauses, uint32_t nodes,
                                 uint32_t many[MANY])
{
    mr_formula formula = new_formula();
    mr_random random = {seed};
    formula.node_count = MANY;
    for (uint32_t i = 0; i < MANY; i++)
        many[i] = i;
    for (uint32_t i = 0; i < clauses; i++) {
        uint32_t node[4];
        for (int k = 0; k < 4; k += 2) {
            node[k] = mr_random_below(&random, nodes);
            node[k + 1] = (node[k] + 1 + mr_random_below(&random, nodes - 1)) % nodes;
        }
        clause(&formula, mr_before(node[0], node[1]), mr_before(node[2], node[3]));
    }
    return formula;
}

/* What a query came to, for comparisons. */
typedef struct ending {
    mr_answer answer;
    mr_trouble trouble;
    int64_t order[MANY];
} ending;

static void solve(mr_session *session, const mr_formula *formula, uint32_t units,
                  const uint32_t *many, ending *end)
{
    mr_limits limits = {.units = units};
    memset(end, 0, sizeof *end);
    end->answer = mr_session_solve(session, formula, &limits, MR_SETTINGS_TUNED, many, end->order,
                                   &end->trouble);
}

static void assert_same(const ending *one, const ending *two)
{
    assert_int_equal(one->answer, two->answer);
    assert_int_equal(one->trouble.units, two->trouble.units);
    assert_memory_equal(one->order, two->order, sizeof one->order);
}

/* A query has the same answer, solution and count of units whatever the session was asked before,
 * also after one that was cut off, and in a session of its own. */
static void test_no_history(void **state)
{
    (void)state;
    uint32_t many[MANY];
    mr_formula hard = random_formula(1, 220, 60, many), easy = random_formula(2, 60, 300, many);
    mr_session *session = mr_session_new();
    ending first, again, other;
    solve(session, &hard, 0, many, &first);
    assert_int_not_equal(first.answer, MR_ANSWER_UNKNOWN);
    assert_true(first.trouble.units > 10000);
    for (int i = 0; i < 3; i++) {
        solve(session, &easy, 0, many, &other);
        assert_int_equal(other.answer, MR_ANSWER_SAT);
        solve(session, &hard, i == 1 ? 5000 : 0, many, &other);
        solve(session, &hard, 0, many, &again);
        assert_same(&first, &again);
    }
    mr_session_free(session);
    session = mr_session_new();
    solve(session, &hard, 0, many, &again);
    assert_same(&first, &again);
    mr_session_free(session);
    mr_formula_free(&hard);
    mr_formula_free(&easy);
}

/* The units decide: what a query takes is enough, a little less is not, and says so. */
static void test_units(void **state)
{
    (void)state;
    uint32_t many[MANY];
    mr_formula hard = random_formula(1, 220, 60, many);
    mr_session *session = mr_session_new();
    ending whole, end, again;
    solve(session, &hard, 0, many, &whole);
    uint32_t units = (uint32_t)whole.trouble.units;
    solve(session, &hard, units + 1, many, &end);
    assert_same(&whole, &end);
    static const uint32_t parts[] = {1, 2, 10, 100, 1000};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint32_t limit = i == 0 ? units * 9 / 10 : units / parts[i];
        solve(session, &hard, limit, many, &end);
        assert_int_equal(end.answer, MR_ANSWER_UNKNOWN);
        assert_int_equal(end.trouble.why, MR_INTERRUPTED_UNITS);
        assert_string_equal(end.trouble.detail, "solver.rlimit");
        bool asked = end.trouble.units != 0; /* not when there are few for each literal */
        assert_true(asked || limit < 4 * hard.literal_count);
        assert_true(!asked ||
                    (end.trouble.units >= limit && end.trouble.units < whole.trouble.units));
        solve(session, &hard, limit, many, &again);
        assert_int_equal(end.answer, again.answer);
        assert_int_equal(end.trouble.units, again.trouble.units);
    }
    mr_session_free(session);
    mr_formula_free(&hard);
}

/* How many checks of a query that has its clauses one part after the other, until it has no answer;
 * `*units`: what it took. */
static uint32_t checks_within(mr_session *session, const mr_formula *formula, uint32_t units,
                              const uint32_t *many, uint64_t *spent)
{
    enum { PARTS = 10 };
    mr_limits limits = {.units = units};
    mr_formula growing = *formula;
    mr_trouble trouble;
    uint32_t checks = 0;
    mr_answer answer = MR_ANSWER_SAT;
    mr_query *query = mr_query_begin(session, &limits, MR_SETTINGS_TUNED, many);
    assert_non_null(query);
    while (answer == MR_ANSWER_SAT && checks < PARTS) {
        int64_t order[MANY];
        growing.clause_count = formula->clause_count * (checks + 1) / PARTS;
        answer = mr_query_check(query, &growing, NULL, order, NULL);
        checks += answer == MR_ANSWER_SAT;
    }
    mr_query_end(query, &trouble);
    assert_int_not_equal(answer, MR_ANSWER_UNSAT);
    if (answer == MR_ANSWER_UNKNOWN)
        assert_int_equal(trouble.why, MR_INTERRUPTED_UNITS);
    *spent = trouble.units;
    return checks;
}

/* The limit is one for all checks of a query together. */
static void test_units_of_many_checks(void **state)
{
    (void)state;
    uint32_t many[MANY];
    mr_formula formula = random_formula(3, 400, MANY, many);
    mr_session *session = mr_session_new();
    uint64_t all, spent, again;
    uint32_t checks = checks_within(session, &formula, 0, many, &all);
    assert_int_equal(checks, 10);
    uint32_t half = (uint32_t)all / 2;
    uint32_t fewer = checks_within(session, &formula, half, many, &spent);
    assert_true(fewer > 0 && fewer < checks);
    assert_true(spent >= half && spent < all);
    assert_int_equal(checks_within(session, &formula, half, many, &again), fewer);
    assert_int_equal(spent, again);
    mr_session_free(session);
    mr_formula_free(&formula);
}

typedef struct worker {
    pthread_t thread;
    const mr_formula *formula;
    const uint32_t *many;
    ending end;
} worker;

static void *work(void *argument)
{
    worker *self = argument;
    mr_session *session = mr_session_new();
    for (int i = 0; session && i < 2; i++)
        solve(session, self->formula, 0, self->many, &self->end);
    mr_session_free(session);
    return NULL;
}

/* Sessions of several threads at once do not feel each other. */
static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    uint32_t many[MANY];
    mr_formula formula = random_formula(1, 220, 60, many);
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.formula = &formula, .many = many};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    assert_int_not_equal(workers[0].end.answer, MR_ANSWER_UNKNOWN);
    for (int i = 1; i < THREADS; i++)
        assert_same(&workers[0].end, &workers[i].end);
    mr_formula_free(&formula);
}

/* With no time or memory for Z3 there is no answer, and the next query has one. */
static void test_limits(void **state)
{
    (void)state;
    uint32_t many[MANY];
    int64_t order[MANY];
    mr_session *session = mr_session_new();
    mr_formula formula = random_formula(1, 20000, MANY, many);
    mr_trouble trouble;
    mr_room *room = mr_room_new(&(mr_room_options){.limit_bytes = 1});
    assert_non_null(room);
    mr_limits tight[] = {{.timeout_ms = 1}, {.memory_bytes = 1}, {.room = room}};
    const mr_interrupted why[] = {MR_INTERRUPTED_TIME, MR_INTERRUPTED_MEMORY,
                                  MR_INTERRUPTED_MEMORY};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mr_session_solve(session, &formula, &tight[i], MR_SETTINGS_TUNED, many,
                                          order, &trouble),
                         MR_ANSWER_UNKNOWN);
        assert_int_equal(trouble.why, why[i]);
    }
    mr_room_free(room);
    /* Of a formula that its units cannot settle Z3 is told nothing. */
    mr_limits few = {.units = (uint32_t)formula.literal_count};
    assert_int_equal(
        mr_session_solve(session, &formula, &few, MR_SETTINGS_TUNED, many, order, &trouble),
        MR_ANSWER_UNKNOWN);
    assert_int_equal(trouble.why, MR_INTERRUPTED_UNITS);
    assert_int_equal(trouble.units, 0);
    formula.clause_count = 10;
    mr_limits none = {0};
    assert_int_not_equal(
        mr_session_solve(session, &formula, &none, MR_SETTINGS_TUNED, many, order, &trouble),
        MR_ANSWER_UNKNOWN);
    mr_formula_free(&formula);
    mr_session_free(session);
}

/* A query that is stopped anywhere: its models are models, and its refutations hold. A formula that
 * grows while the clock runs is stopped while Z3 takes over clauses, too. */
static void test_stopped_anywhere(void **state)
{
    (void)state;
    enum { CLAUSES = 400, STEP = 20 };
    uint32_t many[MANY];
    mr_session *session = mr_session_new();
    mr_formula formula = random_formula(4, CLAUSES, MANY, many);
    bool is_sat[CLAUSES / STEP + 1];
    size_t stopped = 0, answered = 0;
    for (uint32_t part = 1; part <= CLAUSES / STEP; part++) {
        ending whole;
        mr_formula one = formula;
        one.clause_count = (size_t)part * STEP;
        solve(session, &one, 0, many, &whole);
        assert_int_not_equal(whole.answer, MR_ANSWER_UNKNOWN);
        is_sat[part] = whole.answer == MR_ANSWER_SAT;
    }
    for (uint32_t ms = 1; ms < 60; ms++) {
        mr_limits limits = {.timeout_ms = ms};
        mr_formula growing = formula;
        mr_trouble trouble;
        mr_answer answer = MR_ANSWER_SAT;
        mr_query *query = mr_query_begin(session, &limits, MR_SETTINGS_TUNED, many);
        assert_non_null(query);
        for (uint32_t part = 1; part <= CLAUSES / STEP && answer == MR_ANSWER_SAT; part++) {
            int64_t order[MANY];
            growing.clause_count = (size_t)part * STEP;
            answer = mr_query_check(query, &growing, NULL, order, NULL);
            if (answer == MR_ANSWER_SAT)
                assert_true(mr_formula_holds(&growing, order, NULL));
            assert_true(answer == MR_ANSWER_UNKNOWN || is_sat[part] == (answer == MR_ANSWER_SAT));
            stopped += answer == MR_ANSWER_UNKNOWN;
            answered += answer != MR_ANSWER_UNKNOWN;
        }
        mr_query_end(query, &trouble);
    }
    print_message("%zu checks stopped, %zu answered\n", stopped, answered);
    assert_true(stopped > 0 && answered > 0);
    mr_formula_free(&formula);
    mr_session_free(session);
}

/* What a query may have is the smaller of the two. */
static void test_memory_of_a_query(void **state)
{
    (void)state;
    mr_room *room = mr_room_new(&(mr_room_options){.limit_bytes = (uint64_t)1 << 50});
    assert_non_null(room);
    uint64_t left = mr_room_left(room);
    const mr_limits none = {0}, own = {.memory_bytes = 7}, both = {.memory_bytes = 7, .room = room},
                    rest = {.room = room};
    assert_int_equal(mr_limits_memory_bytes(&none), 0);
    assert_int_equal(mr_limits_memory_bytes(&own), 7);
    assert_int_equal(mr_limits_memory_bytes(&both), 7);
    assert_in_range(mr_limits_memory_bytes(&rest), left / 2, left * 2);
    mr_room_hold(room, MR_ROOM_FAR, (uint64_t)1 << 50);
    assert_int_equal(mr_limits_memory_bytes(&both), 1); /* 0 would be no limit */
    mr_room_give(room, MR_ROOM_FAR, (uint64_t)1 << 50);
    mr_room_free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_no_history),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_units_of_many_checks),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_stopped_anywhere),
        cmocka_unit_test(test_memory_of_a_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
