#include "saturate.h"

#include "closure.h"

#include <stdlib.h>
#include <string.h>

enum { UNSET = 0, TRUE = 1, FALSE = 2 };

typedef struct assumption {
    mr_literal literal;
    size_t closure_mark, choice_mark;
} assumption;

typedef struct search {
    const mr_encoding *encoding;
    const mr_formula *formula;
    mr_closure closure;
    uint8_t *choices;       /* UNSET, TRUE, FALSE */
    uint32_t *choice_trail; /* choices in the order in which they were set */
    size_t choice_count;
    uint32_t *active; /* clauses not yet known to hold without assumptions */
    uint32_t active_count;
    assumption *stack;
    size_t depth, stack_capacity;
    uint64_t steps, max_steps;
    uint32_t *by_trace; /* nodes in trace order, CUT last */
    uint32_t *pending;  /* scratch of place() */
    uint8_t *placed;
} search;

/* What became of a piece of work. */
typedef enum progress {
    GOES_ON,
    CONFLICT,
    NO_MEMORY,
} progress;

static int state_of(const search *s, mr_literal literal)
{
    if (mr_is_choice(literal)) {
        uint8_t choice = s->choices[literal.u];
        return choice == UNSET ? UNSET
                               : ((choice == TRUE) == (literal.v == MR_CHOICE) ? TRUE : FALSE);
    }
    if (mr_closure_has(&s->closure, literal.u, literal.v))
        return TRUE;
    return literal.u == literal.v || mr_closure_has(&s->closure, literal.v, literal.u) ? FALSE
                                                                                       : UNSET;
}

static mr_literal opposite(mr_literal literal)
{
    if (mr_is_choice(literal))
        return mr_choice(literal.u, literal.v != MR_CHOICE);
    return mr_before(literal.v, literal.u);
}

static progress make_true(search *s, mr_literal literal)
{
    if (mr_is_choice(literal)) {
        uint8_t wanted = literal.v == MR_CHOICE ? TRUE : FALSE;
        if (s->choices[literal.u] == UNSET) {
            s->choices[literal.u] = wanted;
            s->choice_trail[s->choice_count++] = literal.u;
        }
        return s->choices[literal.u] == wanted ? GOES_ON : CONFLICT;
    }
    switch (mr_closure_add(&s->closure, literal.u, literal.v)) {
    case MR_CLOSURE_OK:
        return GOES_ON;
    case MR_CLOSURE_CYCLE:
        return CONFLICT;
    case MR_CLOSURE_NO_MEMORY:
        break;
    }
    return NO_MEMORY;
}

static void clause_bounds(const search *s, uint32_t clause, uint32_t *begin, uint32_t *end)
{
    *begin = clause ? s->formula->clause_ends[clause - 1] : 0;
    *end = s->formula->clause_ends[clause];
}

/* Looks at one clause; a literal that is the only one left is made true. `*holds`: the clause is
 * known to hold. */
static progress visit_clause(search *s, uint32_t clause, bool *holds, bool *changed)
{
    uint32_t begin, end, open = 0;
    mr_literal last = {0};
    clause_bounds(s, clause, &begin, &end);
    *holds = false;
    for (uint32_t i = begin; i < end && open < 2; i++) {
        int state = state_of(s, s->formula->literals[i]);
        s->steps++;
        if (state == TRUE) {
            *holds = true;
            return GOES_ON;
        }
        if (state == UNSET) {
            open++;
            last = s->formula->literals[i];
        }
    }
    if (open == 0)
        return CONFLICT;
    if (open > 1) /* a later literal may hold; it is found when the others have fallen */
        return GOES_ON;
    *changed = *holds = true;
    return make_true(s, last);
}

static bool out_of_steps(const search *s)
{
    return s->max_steps && s->steps + s->closure.work > s->max_steps;
}

/* Propagates to a fixpoint. Without assumptions, clauses that hold are dropped for good. */
static progress propagate(search *s)
{
    for (bool changed = true; changed && !out_of_steps(s);) {
        uint32_t kept = 0;
        changed = false;
        for (uint32_t i = 0; i < s->active_count; i++) {
            bool holds;
            progress result = visit_clause(s, s->active[i], &holds, &changed);
            if (result != GOES_ON)
                return result;
            if (s->depth || !holds)
                s->active[kept++] = s->active[i];
        }
        s->active_count = kept;
    }
    return GOES_ON;
}

/* Places a node after everything that is known to be before it. */
static void place(search *s, uint32_t node, int64_t *order, int64_t *next)
{
    uint32_t depth = 0;
    if (s->placed[node])
        return;
    s->pending[depth++] = node;
    while (depth) {
        uint32_t top = s->pending[depth - 1];
        uint32_t e = s->closure.predecessors[top];
        while (e != MR_NONE && s->placed[s->closure.edges[e].from])
            e = s->closure.edges[e].next;
        if (e != MR_NONE) {
            s->pending[depth++] = s->closure.edges[e].from;
            continue;
        }
        order[top] = (*next)++;
        s->placed[top] = 1;
        depth--;
    }
}

static void linear_order(search *s, int64_t *order)
{
    uint32_t count = s->formula->node_count, cut = s->encoding->cut;
    int64_t next = 0;
    memset(s->placed, 0, count);
    s->steps += count + s->closure.edge_count;
    for (uint32_t i = 0; i < count; i++)
        if (mr_closure_has(&s->closure, s->by_trace[i], cut))
            place(s, s->by_trace[i], order, &next);
    place(s, cut, order, &next);
    for (uint32_t i = 0; i < count; i++)
        place(s, s->by_trace[i], order, &next);
}

static bool holds_in(const search *s, uint32_t clause, const int64_t *order)
{
    uint32_t begin, end;
    clause_bounds(s, clause, &begin, &end);
    for (uint32_t i = begin; i < end; i++) {
        mr_literal literal = s->formula->literals[i];
        /* A choice that is not set may as well be false: its implications hold. */
        bool holds = mr_is_choice(literal)
                         ? (s->choices[literal.u] == TRUE) == (literal.v == MR_CHOICE)
                         : order[literal.u] < order[literal.v];
        if (holds)
            return true;
    }
    return false;
}

/* Position in the trace, for the choice between literals; CUT is after everything. */
static uint32_t trace_position(const search *s, uint32_t node)
{
    return s->encoding->event_of[node];
}

/* The open literal to assume: one that the trace agrees with, else any. MR_NONE: the clause holds
 * or has none. */
static uint32_t pick_literal(const search *s, uint32_t clause)
{
    uint32_t begin, end, picked = MR_NONE;
    clause_bounds(s, clause, &begin, &end);
    for (uint32_t i = begin; i < end; i++) {
        mr_literal literal = s->formula->literals[i];
        int state = state_of(s, literal);
        if (state == TRUE)
            return MR_NONE;
        if (state == FALSE)
            continue;
        if (!mr_is_choice(literal) && literal.u != s->encoding->cut &&
            trace_position(s, literal.u) < trace_position(s, literal.v))
            return i;
        if (picked == MR_NONE)
            picked = i;
    }
    return picked;
}

static progress assume(search *s, mr_literal literal)
{
    void *stack = s->stack;
    if (!mr_grow(&stack, &s->stack_capacity, s->depth + 1, sizeof *s->stack))
        return NO_MEMORY;
    s->stack = stack;
    s->stack[s->depth++] = (assumption){
        .literal = literal, .closure_mark = s->closure.trail_count, .choice_mark = s->choice_count};
    progress result = make_true(s, literal);
    return result == GOES_ON ? propagate(s) : result;
}

/* Withdraws assumptions until the opposite of one leads to no conflict. CONFLICT: none was left. */
static progress backtrack(search *s)
{
    while (s->depth) {
        assumption last = s->stack[--s->depth];
        mr_closure_undo(&s->closure, last.closure_mark);
        while (s->choice_count > last.choice_mark)
            s->choices[s->choice_trail[--s->choice_count]] = UNSET;
        progress result = make_true(s, opposite(last.literal));
        if (result == GOES_ON)
            result = propagate(s);
        if (result != CONFLICT)
            return result;
    }
    return CONFLICT;
}

/* One round: order the nodes, and assume a literal of each clause that is violated. `*violated`:
 * whether there was one. */
static progress repair(search *s, int64_t *order, bool *violated)
{
    linear_order(s, order);
    *violated = false;
    for (uint32_t i = 0; i < s->active_count; i++) {
        uint32_t clause = s->active[i];
        s->steps++;
        if (holds_in(s, clause, order))
            continue;
        *violated = true;
        uint32_t literal = pick_literal(s, clause);
        if (literal == MR_NONE)
            continue; /* holds by now */
        progress result = assume(s, s->formula->literals[literal]);
        if (result != GOES_ON)
            return result;
        if (out_of_steps(s))
            break;
    }
    return GOES_ON;
}

static mr_saturated run(search *s, int64_t *order)
{
    progress result = propagate(s);
    if (result == CONFLICT)
        return MR_SATURATED_UNSAT;
    for (;;) {
        bool violated = true;
        if (result == GOES_ON && out_of_steps(s))
            return MR_SATURATED_OUT_OF_STEPS;
        if (result == GOES_ON)
            result = repair(s, order, &violated);
        if (result == GOES_ON && !violated)
            return MR_SATURATED_SAT;
        if (result == CONFLICT)
            result = backtrack(s);
        if (result == CONFLICT)
            return MR_SATURATED_UNSAT;
        if (result == NO_MEMORY)
            return MR_SATURATED_NO_MEMORY;
    }
}

static bool prepare(search *s, mr_arena *arena)
{
    const mr_formula *formula = s->formula;
    const mr_window *w = s->encoding->window;
    uint32_t count = formula->node_count, filled = 0;
    s->choices = mr_arena_zalloc(arena, formula->choice_count, 1);
    s->choice_trail = mr_arena_alloc(arena, formula->choice_count, sizeof *s->choice_trail);
    s->active = mr_arena_alloc(arena, formula->clause_count, sizeof *s->active);
    s->by_trace = mr_arena_alloc(arena, count, sizeof *s->by_trace);
    s->pending = mr_arena_alloc(arena, count, sizeof *s->pending);
    s->placed = mr_arena_alloc(arena, count, 1);
    if (!s->choices || !s->choice_trail || !s->active || !s->by_trace || !s->pending || !s->placed)
        return false;
    for (uint32_t k = 0; k < formula->clause_count; k++)
        s->active[s->active_count++] = k;
    for (uint32_t i = 0; i < w->size; i++)
        if (s->encoding->node_of[i])
            s->by_trace[filled++] = s->encoding->node_of[i] - 1;
    s->by_trace[filled] = s->encoding->cut;
    return true;
}

mr_saturated mr_saturate(const mr_encoding *encoding, uint64_t max_steps, uint64_t *spent,
                         int64_t *order, mr_arena *arena)
{
    if (encoding->formula.contradiction)
        return MR_SATURATED_UNSAT;
    search s = {.encoding = encoding, .formula = &encoding->formula, .max_steps = max_steps};
    mr_saturated result = MR_SATURATED_NO_MEMORY;
    mr_closure_result built = mr_closure_init(&s.closure, encoding, arena);
    if (built == MR_CLOSURE_CYCLE)
        result = MR_SATURATED_UNSAT;
    else if (built == MR_CLOSURE_OK && prepare(&s, arena))
        result = run(&s, order);
    *spent += s.steps + s.closure.work;
    mr_closure_free(&s.closure);
    free(s.stack);
    return result;
}
