#include "end_state.h"

#include "base/assert.h"
#include "branches.h"

static void add(mr_clause *clause, mr_literal literal)
{
    if (!clause->holds)
        clause->literals[clause->count++] = literal;
}

/* Adds "the event is included": before(event, CUT). */
static void add_included(mr_encoding *encoding, mr_clause *clause, uint32_t event)
{
    if (mr_encoding_is_required(encoding, event) && !encoding->options.plain)
        clause->holds = true;
    else if (mr_encoding_in_cone(encoding, event))
        add(clause, mr_before(mr_encoding_node(encoding, event), encoding->cut));
}

/* "`write` is not after `source`"; MR_NONE: not included. Ends the clause. */
static void keep_away(mr_encoding *encoding, mr_clause clause, uint32_t source, uint32_t write)
{
    mr_clause_unless_included(encoding, &clause, write);
    if (source != MR_NONE)
        mr_clause_before(encoding, &clause, write, source);
    mr_clause_end(encoding, &clause);
}

/* The lines with c(source). */
static void encode_choice(mr_encoding *encoding, uint32_t choice, uint32_t source)
{
    const mr_window *w = encoding->window;
    const mr_last_write *last = encoding->goal->last;
    const mr_window_variable *variable = &w->variables[last->variable];
    mr_clause guard = {0};
    mr_clause_choice(&guard, choice, false);
    if (source != MR_NONE) {
        mr_clause included = guard, clean = guard;
        mr_encoding_node(encoding, source); /* its place counts */
        add_included(encoding, &included, source);
        mr_clause_end(encoding, &included);
        mr_clause_clean(encoding, &clean, source);
        mr_clause_end(encoding, &clean);
    }
    for (uint32_t k = variable->writes_first; k < variable->writes_end; k++) {
        uint32_t write = w->writes[k];
        if (mr_formula_stopped(&encoding->formula))
            return;
        if (write == source || !mr_encoding_in_cone(encoding, write))
            continue;
        mr_clause clause = guard;
        if (mr_last_write_fits(w, last, write))
            mr_clause_clean(encoding, &clause, write);
        keep_away(encoding, clause, source, write);
    }
}

static void encode_value(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    const mr_last_write *last = encoding->goal->last;
    const mr_window_variable *variable = &w->variables[last->variable];
    uint32_t *choices = encoding->choices, count = 0;
    if (last->carried)
        choices[count++] = MR_NONE;
    for (uint32_t k = variable->writes_first; k < variable->writes_end; k++)
        if (mr_encoding_in_cone(encoding, w->writes[k]) &&
            mr_last_write_fits(w, last, w->writes[k]))
            choices[count++] = w->writes[k];
    uint32_t first = encoding->formula.choice_count;
    encoding->formula.choice_count += count;
    for (uint32_t i = 0; i < count; i++)
        encoding->literals[i] = mr_choice(first + i, true);
    mr_formula_clause(&encoding->formula, encoding->literals, count);
    for (uint32_t i = 0; i < count && !mr_formula_stopped(&encoding->formula); i++)
        encode_choice(encoding, first + i, choices[i]);
}

static void encode_write(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    const mr_last_write *last = encoding->goal->last;
    const mr_window_variable *variable = &w->variables[last->variable];
    MR_REQUIRE(mr_encoding_is_required(encoding, last->write));
    mr_encoding_node(encoding, last->write);
    for (uint32_t k = variable->writes_first; k < variable->writes_end; k++)
        if (w->writes[k] != last->write && mr_encoding_in_cone(encoding, w->writes[k]))
            keep_away(encoding, (mr_clause){0}, last->write, w->writes[k]);
}

static void encode_lives(mr_encoding *encoding)
{
    const mr_goal *goal = encoding->goal;
    uint32_t count = 0;
    bool freed = !goal->one_freed;
    for (uint32_t i = 0; i < goal->life_count; i++) {
        const mr_goal_life *life = &goal->lives[i];
        mr_clause clause = {.holds = !mr_encoding_in_cone(encoding, life->alloc)};
        if (!clause.holds) {
            mr_clause_unless_included(encoding, &clause, life->alloc);
            add_included(encoding, &clause, life->free);
        }
        mr_clause_end(encoding, &clause);
        freed |= mr_encoding_is_required(encoding, life->free);
        if (!freed && mr_encoding_in_cone(encoding, life->free))
            encoding->literals[count++] =
                mr_before(mr_encoding_node(encoding, life->free), encoding->cut);
    }
    if (!freed)
        mr_formula_clause(&encoding->formula, encoding->literals, count);
}

void mr_encode_end_state(mr_encoding *encoding)
{
    const mr_goal *goal = encoding->goal;
    if (goal->last && goal->last->value)
        encode_value(encoding);
    else if (goal->last)
        encode_write(encoding);
    if (goal->life_count)
        encode_lives(encoding);
}
