#include "saturate.h"

#include "base/assert.h"
#include "encoder/lazy.h"
#include "line.h"
#include "search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* When to start again: after so many conflicts, growing by a tenth; with that many of the learned
 * clauses. */
enum { FIRST_CONFLICTS = 200 };

/* A clause that an order violates. */
typedef struct violation {
    uint32_t used, clause; /* its latest conflict; in search.clauses */
} violation;

typedef struct task {
    mr_encoding *encoding;
    mr_search search;
    uint64_t max_effort, effort;
    uint32_t conflicts, max_conflicts; /* since the last start */
    uint64_t all_conflicts, restarts;  /* for debug lines */
    mr_line line;
    violation *violations; /* owned; scratch */
    size_t violation_capacity;
} task;

static uint64_t effort_of(const task *t)
{
    uint64_t effort = t->effort + t->search.effort + t->search.closure.effort + t->line.effort;
    return t->encoding->lazy ? effort + t->encoding->lazy->effort : effort;
}

static bool out_of_effort(const task *t)
{
    return t->max_effort && effort_of(t) > t->max_effort;
}

/* ---- orders ---- */

/* A choice that is open may as well be false: its implications hold. */
static bool holds_in_order(const task *t, mr_literal literal)
{
    if (mr_is_choice(literal))
        return (t->search.choices[literal.u] == MR_TRUE) == (literal.v == MR_CHOICE);
    return t->line.order[literal.u] < t->line.order[literal.v];
}

static bool is_violated(const task *t, const mr_search_clause *clause)
{
    for (uint32_t i = 0; i < clause->count; i++)
        if (holds_in_order(t, t->search.literals[clause->first + i]))
            return false;
    return true;
}

/* ---- assumptions ---- */

/* Does the trace have it so? CUT is after everything there. */
static bool agrees_with_trace(const task *t, mr_literal literal)
{
    return !mr_is_choice(literal) && literal.u != t->encoding->cut &&
           t->encoding->event_of[literal.u] < t->encoding->event_of[literal.v];
}

/* The open literal to assume. False: the clause holds or has none. */
static bool pick(const task *t, const mr_search_clause *clause, mr_literal *picked)
{
    bool found = false, agrees = false;
    for (uint32_t i = 0; i < clause->count; i++) {
        mr_literal literal = t->search.literals[clause->first + i];
        switch (mr_search_truth(&t->search, literal)) {
        case MR_TRUE:
            return false;
        case MR_FALSE:
            break;
        case MR_OPEN:
            /* Watching moves literals: choices are taken by number, the order of their making. */
            if (found && (agrees || !agrees_with_trace(t, literal)) &&
                (agrees || !mr_is_choice(literal) || !mr_is_choice(*picked) ||
                 literal.u > picked->u))
                break;
            *picked = literal;
            found = true;
            agrees = agrees_with_trace(t, literal);
        }
    }
    return found;
}

/* Those that had a part in the latest conflicts come first: what is hard is decided early, so that
 * lessons are about little. */
static int compare(const void *one, const void *two)
{
    const violation *x = one, *y = two;
    if (x->used != y->used)
        return x->used > y->used ? -1 : 1;
    return (x->clause > y->clause) - (x->clause < y->clause);
}

/* Fills `violations`. False: no memory. */
static bool find_violations(task *t, size_t *count)
{
    *count = 0;
    for (size_t k = 0; k < t->search.clause_count; k++) {
        const mr_search_clause *clause = &t->search.clauses[k];
        t->effort++;
        if (clause->learned || !is_violated(t, clause)) /* what was learned follows */
            continue;
        void *violations = t->violations;
        if (!mr_grow(&violations, &t->violation_capacity, *count + 1, sizeof *t->violations))
            return false;
        t->violations = violations;
        t->violations[(*count)++] = (violation){.used = clause->used, .clause = (uint32_t)k};
    }
    if (*count)
        qsort(t->violations, *count, sizeof *t->violations, compare);
    return true;
}

/* Orders the nodes, and assumes a literal of each clause that is violated. `*violated`: whether
 * there was one. */
static mr_search_result repair(task *t, bool *violated)
{
    size_t count;
    if (!mr_line_update(&t->line) || !find_violations(t, &count))
        return MR_SEARCH_NO_MEMORY;
    *violated = count;
    for (size_t i = 0; i < count && !out_of_effort(t); i++) {
        mr_literal literal;
        if (!pick(t, &t->search.clauses[t->violations[i].clause], &literal))
            continue; /* holds by now */
        mr_search_result result = mr_search_assume(&t->search, literal);
        if (result != MR_SEARCH_GOES_ON)
            return result;
    }
    return MR_SEARCH_GOES_ON;
}

/* ---- running ---- */

/* Adds what the order violates, in `added` clauses. What seems to be a solution is looked at as a whole.
 * False: no memory. */
static bool add_violated(task *t, uint32_t *added)
{
    const uint8_t *choices = t->search.choices;
    *added = 0;
    if (!t->encoding->lazy)
        return true;
    if (!mr_lazy_refute_moved(t->encoding, t->line.order, choices, added))
        return false;
    if (*added || mr_formula_stopped(&t->encoding->formula))
        return true;
    bool complete = mr_lazy_refute(t->encoding, t->line.order, choices, added);
    MR_ASSERT_COSTLY(!*added); /* what has moved is told */
    return complete;
}

/* `*solved`: the order violates nothing. */
static mr_search_result refute(task *t, bool *solved)
{
    uint32_t added;
    if (!add_violated(t, &added))
        return MR_SEARCH_NO_MEMORY;
    *solved = !added && !mr_formula_stopped(&t->encoding->formula);
    if (!mr_search_take(&t->search))
        return MR_SEARCH_NO_MEMORY;
    return mr_search_propagate(&t->search);
}

/* One step forward from a state without conflict. */
static mr_search_result advance(task *t, bool *solved)
{
    bool violated;
    if (t->conflicts >= t->max_conflicts) {
        t->conflicts = 0;
        t->restarts++;
        t->max_conflicts += t->max_conflicts / 10;
        return mr_search_restart(&t->search, t->max_conflicts);
    }
    mr_search_result result = repair(t, &violated);
    return result != MR_SEARCH_GOES_ON || violated ? result : refute(t, solved);
}

static mr_saturated run(task *t)
{
    const mr_formula *formula = &t->encoding->formula;
    bool solved = false, refuted = false;
    mr_search_result result =
        mr_search_take(&t->search) ? mr_search_propagate(&t->search) : MR_SEARCH_NO_MEMORY;
    for (;;) {
        if (result == MR_SEARCH_NO_MEMORY || formula->out_of_memory ||
            mr_arena_is_halted(t->encoding->arena))
            return MR_SATURATED_NO_MEMORY;
        if (refuted || formula->contradiction)
            return MR_SATURATED_UNSAT;
        if (solved)
            return MR_SATURATED_SAT;
        if (out_of_effort(t) || formula->too_large)
            return MR_SATURATED_OUT_OF_EFFORT;
        if (result == MR_SEARCH_GOES_ON) {
            result = advance(t, &solved);
        } else {
            t->conflicts++;
            t->all_conflicts++;
            result = mr_search_resolve(&t->search, &refuted);
        }
    }
}

mr_saturated mr_saturate(mr_encoding *encoding, uint64_t max_effort, uint64_t *spent,
                         int64_t *order, const mr_debug *debug, mr_arena *arena)
{
    if (encoding->formula.contradiction)
        return MR_SATURATED_UNSAT;
    task t = {.encoding = encoding, .max_effort = max_effort, .max_conflicts = FIRST_CONFLICTS};
    static const char *const results[] = {
        [MR_SATURATED_SAT] = "sat",
        [MR_SATURATED_UNSAT] = "unsat",
        [MR_SATURATED_OUT_OF_EFFORT] = "out-of-effort",
        [MR_SATURATED_NO_MEMORY] = "no-memory",
    };
    mr_saturated result = MR_SATURATED_NO_MEMORY;
    mr_search_result begun = mr_search_init(&t.search, encoding, arena);
    if (begun == MR_SEARCH_CONFLICT)
        result = MR_SATURATED_UNSAT;
    else if (begun == MR_SEARCH_GOES_ON &&
             mr_line_init(&t.line, encoding, &t.search.closure, order, arena))
        result = run(&t);
    MR_DEBUG(debug, SEARCH,
             "result=%s effort=%" PRIu64 " conflicts=%" PRIu64 " restarts=%" PRIu64
             " clauses=%zu learned=%zu",
             results[result], effort_of(&t), t.all_conflicts, t.restarts, t.search.clause_count,
             t.search.learned_count);
    *spent += effort_of(&t);
    mr_line_free(&t.line);
    mr_search_free(&t.search);
    free(t.violations);
    return result;
}
