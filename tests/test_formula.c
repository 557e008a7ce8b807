/* Formulas: what is added, what holds, and their limits; nothing of traces or solvers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encoder/formula.h"
#include "support/formula_search.h"
#include "support/random.h"

#include <string.h>

/* "0<1" is an edge; "0<1|2<3|+0|-1" a clause of two orders, choice 0, and not choice 1; parts are
 * separated by blanks. */
static mr_formula parse(const char *text, uint32_t nodes, uint32_t choices, size_t max_clauses)
{
    mr_formula formula;
    mr_formula_init(&formula, max_clauses, 0);
    formula.node_count = nodes;
    formula.choice_count = choices;
    while (*text) {
        mr_literal literals[16];
        size_t count = 0;
        for (; *text && *text != ' '; text += *text == '|') {
            if (*text == '.') { /* an empty clause */
                text++;
            } else if (*text == '+' || *text == '-') {
                literals[count++] = mr_choice((uint32_t)(text[1] - '0'), *text == '+');
                text += 2;
            } else {
                literals[count++] = mr_before((uint32_t)(text[0] - '0'), (uint32_t)(text[2] - '0'));
                text += 3;
            }
        }
        mr_formula_clause(&formula, literals, count);
        text += *text == ' ';
    }
    return formula;
}

typedef struct known {
    const char *text;
    uint32_t nodes, choices;
    bool satisfiable;
    size_t edges, clauses;
} known;

static const known table[] = {
    {"", 1, 0, true, 0, 0},
    {"", 0, 0, true, 0, 0},
    {"0<1", 2, 0, true, 1, 0},
    {"0<1 1<2 2<0", 3, 0, false, 3, 0},
    {"0<1 1<0", 2, 0, false, 2, 0},
    {"0<0", 1, 0, false, 1, 0}, /* strictly before */
    {"0<1|1<0", 2, 0, true, 0, 1},
    {"0<1|1<0 0<1", 2, 0, true, 1, 1},
    {"0<1 1<2 2<0|0<2", 3, 0, true, 2, 1},
    {"0<1 1<2 2<0|2<1", 3, 0, false, 2, 1},
    {".", 2, 0, false, 0, 0},
    {"0<1 .", 2, 0, false, 1, 0},
    {"+0", 1, 1, true, 0, 1}, /* a single choice is a clause, not an edge */
    {"+0 -0", 1, 1, false, 0, 2},
    {"+0|+1 -0 -1", 1, 2, false, 0, 3},
    {"+0|+1 -0 -1|0<1 1<0", 2, 2, false, 1, 3},
    {"+0|+1 -0 -1|0<1", 2, 2, true, 0, 3},
    {"+0|+1 -0|0<1 -1|1<2 1<0|2<1", 3, 2, true, 0, 4},
};

static void test_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        mr_formula formula = parse(table[i].text, table[i].nodes, table[i].choices, 0);
        int64_t order[MR_SEARCH_NODES];
        assert_true(mr_formula_searchable(&formula));
        if (mr_formula_search(&formula, order) != table[i].satisfiable)
            fail_msg("'%s'", table[i].text);
        assert_int_equal(formula.edge_count, table[i].edges);
        assert_int_equal(formula.clause_count, table[i].clauses);
        assert_int_equal(formula.contradiction, strchr(table[i].text, '.') != NULL);
        mr_formula_free(&formula);
    }
}

/* One order and one assignment of choices at a time. */
static void test_holds(void **state)
{
    (void)state;
    mr_formula formula = parse("0<1 1<2|-0 +0|+1", 3, 2, 0);
    static const struct {
        int64_t order[3];
        bool choices[2], holds;
    } cases[] = {
        {{0, 1, 2}, {true, false}, true},
        {{0, 1, 1}, {true, false}, false}, /* equal is not before */
        {{0, 1, 0}, {false, true}, true},
        {{0, 1, 2}, {false, false}, false},
        {{1, 1, 2}, {true, true}, false},
        {{INT64_MIN, 0, INT64_MAX}, {true, true}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(mr_formula_holds(&formula, cases[i].order, cases[i].choices),
                         cases[i].holds);
    formula.too_large = true; /* an incomplete formula says nothing */
    assert_false(mr_formula_holds(&formula, cases[0].order, cases[0].choices));
    mr_formula_free(&formula);
}

static void test_limit(void **state)
{
    (void)state;
    static const char text[] = "0<1 0<2|2<0 1<2 +0";
    for (size_t limit = 1; limit < 7; limit++) {
        mr_formula formula = parse(text, 3, 1, limit);
        assert_int_equal(formula.too_large, limit < 4);
        assert_int_equal(mr_formula_stopped(&formula), limit < 4);
        assert_int_equal(formula.edge_count + formula.clause_count, limit < 4 ? limit : 4);
        mr_formula_free(&formula);
    }
    mr_formula formula = parse("0<1 . 1<2", 3, 1, 1);
    assert_true(formula.contradiction); /* stops, and is an answer, not too large */
    assert_false(formula.too_large);
    mr_formula_free(&formula);
}

/* An edge takes 8 bytes, a clause 4 and 8 for each literal. */
static void test_bytes(void **state)
{
    (void)state;
    for (uint64_t limit = 0; limit < 60; limit += 4) {
        mr_formula formula;
        mr_formula_init(&formula, 0, limit);
        formula.node_count = 3;
        mr_literal both[] = {mr_before(0, 1), mr_before(1, 2)};
        for (int i = 0; i < 3; i++) {
            mr_formula_edge(&formula, 0, 2);
            mr_formula_clause(&formula, both, 2);
        }
        uint64_t bytes = 8 * formula.edge_count + 20 * formula.clause_count;
        assert_int_equal(formula.too_large, limit && limit <= 56);
        assert_int_equal(formula.by_bytes, formula.too_large);
        assert_true(bytes == 84 || (bytes >= limit && bytes < limit + 20));
        mr_formula_free(&formula);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    bool complete = false;
    for (uint64_t fail_at = 1; !complete; fail_at++) {
        mr_memory_fail_after(fail_at);
        mr_formula formula = parse("0<1 0<1|1<0 +0|-1", 2, 2, 0);
        mr_memory_fail_after(0);
        complete = !formula.out_of_memory;
        assert_int_equal(mr_formula_stopped(&formula), !complete);
        assert_true(complete || fail_at < 10);
        assert_true(!complete || fail_at > 1);
        mr_formula_free(&formula);
    }
}

/* Formulas that grow: every clause stays what it was. */
static void test_many_clauses(void **state)
{
    (void)state;
    enum { CLAUSES = 5000 };
    mr_formula formula;
    mr_random random = {1}, again = {1};
    mr_formula_init(&formula, 0, 0);
    formula.node_count = CLAUSES;
    for (uint32_t k = 0; k < CLAUSES; k++) {
        mr_literal literals[4];
        size_t count = mr_random_range(&random, 2, 4);
        for (size_t i = 0; i < count; i++)
            literals[i] = mr_before(mr_random_below(&random, 100), k);
        mr_formula_clause(&formula, literals, count);
    }
    assert_int_equal(formula.clause_count, CLAUSES);
    size_t at = 0;
    for (uint32_t k = 0; k < CLAUSES; k++) {
        size_t count = mr_random_range(&again, 2, 4);
        assert_int_equal(formula.clause_ends[k], at + count);
        for (; at < formula.clause_ends[k]; at++) {
            assert_int_equal(formula.literals[at].u, mr_random_below(&again, 100));
            assert_int_equal(formula.literals[at].v, k);
        }
    }
    mr_formula_free(&formula);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),     cmocka_unit_test(test_holds),
        cmocka_unit_test(test_limit),     cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_many_clauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
