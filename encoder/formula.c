#include "formula.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* How many clauses that hold anyway cost as much as one that is kept, when formulas are limited. */
enum { ATTEMPTS_PER_CLAUSE = 16 };

void mr_formula_init(mr_formula *formula, size_t max_clauses, uint64_t max_bytes)
{
    *formula = (mr_formula){.max_clauses = max_clauses, .max_bytes = max_bytes};
}

void mr_formula_free(mr_formula *formula)
{
    free(formula->literals);
    free(formula->clause_ends);
    free(formula->edges);
    *formula = (mr_formula){0};
}

bool mr_formula_stopped(const mr_formula *formula)
{
    return formula->contradiction || formula->too_large || formula->out_of_memory;
}

mr_unknown_reason mr_formula_reason(const mr_formula *formula)
{
    return formula->by_bytes    ? MR_UNKNOWN_MEMORY
           : formula->too_large ? MR_UNKNOWN_SIZE
                                : MR_UNKNOWN_STEPS;
}

static uint64_t bytes_of(const mr_formula *formula)
{
    return formula->literal_count * sizeof *formula->literals +
           formula->clause_count * sizeof *formula->clause_ends +
           formula->edge_count * sizeof *formula->edges;
}

static bool room(mr_formula *formula)
{
    if (mr_formula_stopped(formula))
        return false;
    formula->by_bytes = formula->max_bytes && bytes_of(formula) >= formula->max_bytes;
    formula->too_large =
        formula->by_bytes || (formula->max_clauses &&
                              formula->edge_count + formula->clause_count >= formula->max_clauses);
    return !formula->too_large;
}

void mr_formula_skip(mr_formula *formula)
{
    if (formula->max_clauses && ++formula->attempts / ATTEMPTS_PER_CLAUSE > formula->max_clauses &&
        !formula->contradiction)
        formula->too_large = true;
}

/* Does the literal name nodes and choices that are there? */
static bool is_sound(const mr_formula *formula, mr_literal literal)
{
    if (mr_is_choice(literal))
        return literal.u < formula->choice_count;
    return literal.u < formula->node_count && literal.v < formula->node_count;
}

void mr_formula_edge(mr_formula *formula, uint32_t u, uint32_t v)
{
    MR_REQUIRE(is_sound(formula, mr_before(u, v)));
    if (!room(formula))
        return;
    void *edges = formula->edges;
    if (!mr_grow(&edges, &formula->edge_capacity, formula->edge_count + 1,
                 sizeof *formula->edges)) {
        formula->out_of_memory = true;
        return;
    }
    formula->edges = edges;
    formula->edges[formula->edge_count++] = mr_before(u, v);
}

void mr_formula_clause(mr_formula *formula, const mr_literal *literals, size_t count)
{
    if (!count) {
        formula->contradiction = true;
        return;
    }
    if (count == 1 && !mr_is_choice(literals[0])) {
        mr_formula_edge(formula, literals[0].u, literals[0].v);
        return;
    }
    if (!room(formula))
        return;
    void *all = formula->literals, *ends = formula->clause_ends;
    bool grown = mr_grow(&all, &formula->literal_capacity, formula->literal_count + count,
                         sizeof *formula->literals);
    if (grown)
        formula->literals = all;
    grown = grown && formula->literal_count + count < UINT32_MAX &&
            mr_grow(&ends, &formula->clause_capacity, formula->clause_count + 1,
                    sizeof *formula->clause_ends);
    if (!grown) {
        formula->out_of_memory = true;
        return;
    }
    formula->clause_ends = ends;
    for (size_t i = 0; i < count; i++)
        MR_REQUIRE(is_sound(formula, literals[i]));
    memcpy(formula->literals + formula->literal_count, literals, count * sizeof *literals);
    formula->literal_count += count;
    formula->clause_ends[formula->clause_count++] = (uint32_t)formula->literal_count;
}

static bool literal_holds(mr_literal literal, const int64_t *order, const bool *choices)
{
    if (mr_is_choice(literal))
        return choices[literal.u] == (literal.v == MR_CHOICE);
    return order[literal.u] < order[literal.v];
}

bool mr_formula_holds(const mr_formula *formula, const int64_t *order, const bool *choices)
{
    if (mr_formula_stopped(formula))
        return false;
    for (size_t i = 0; i < formula->edge_count; i++)
        if (!literal_holds(formula->edges[i], order, choices))
            return false;
    size_t at = 0;
    for (size_t k = 0; k < formula->clause_count; k++) {
        bool holds = false;
        for (; at < formula->clause_ends[k]; at++)
            holds |= literal_holds(formula->literals[at], order, choices);
        if (!holds)
            return false;
    }
    return true;
}
