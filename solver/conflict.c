/* What is learned from a conflict. */
#include "search_parts.h"

static bool mark(mr_search *s, uint32_t assertion)
{
    if (s->seen[assertion] || !s->trail[assertion].level)
        return true;
    s->seen[assertion] = 1;
    return mr_u32s_push(&s->marked, assertion);
}

/* Marks the assertions that make a false literal false, with no edges but the first so many. */
static bool explain(mr_search *s, mr_literal literal, size_t edge_count)
{
    s->steps++;
    if (mr_is_choice(literal))
        return mark(s, s->choice_asserted[literal.u]);
    if (literal.u == literal.v)
        return true;
    s->path.count = 0;
    if (!mr_closure_path(&s->closure, literal.v, literal.u, edge_count, &s->path))
        return false;
    for (size_t i = 0; i < s->path.count; i++)
        if (s->path.items[i] >= s->first_edges &&
            !mark(s, s->edge_asserted.items[s->path.items[i] - s->first_edges]))
            return false;
    return true;
}

static bool same_literal(mr_literal one, mr_literal other)
{
    return one.u == other.u && one.v == other.v;
}

/* Marks what made the assertion's reason leave nothing but the assertion. */
static bool expand(mr_search *s, const mr_assertion *assertion)
{
    mr_search_clause *c = &s->clauses[assertion->reason];
    c->used = s->conflicts;
    for (uint32_t i = 0; i < c->count; i++) {
        mr_literal literal = s->literals[c->first + i];
        if (!same_literal(literal, assertion->literal) &&
            !explain(s, literal, assertion->edge_count))
            return false;
    }
    return true;
}

static uint32_t latest_level(const mr_search *s)
{
    uint32_t level = 0;
    for (size_t i = 0; i < s->marked.count; i++)
        if (s->trail[s->marked.items[i]].level > level)
            level = s->trail[s->marked.items[i]].level;
    return level;
}

/*
 * Replaces marked assertions of the level by what they came from until one is left, which is
 * returned, no longer marked. MR_NONE: no memory.
 */
static uint32_t find_implication_point(mr_search *s, uint32_t level)
{
    size_t open = 0, counted = 0;
    size_t at = level < s->level_count ? s->levels[level].assertions : s->trail_count;
    for (;;) {
        for (; counted < s->marked.count; counted++)
            open += s->trail[s->marked.items[counted]].level == level;
        do
            at--;
        while (!s->seen[at] || s->trail[at].level != level);
        s->seen[at] = 0;
        if (--open == 0)
            return (uint32_t)at;
        if (!expand(s, &s->trail[at]))
            return MR_NONE;
    }
}

static mr_literal opposite(mr_literal literal)
{
    if (mr_is_choice(literal))
        return mr_choice(literal.u, literal.v != MR_CHOICE);
    return mr_before(literal.v, literal.u);
}

/* Fills `lesson` with the opposites of `point` and of all that are still marked, one of the latest
 * of these levels second; returns that level. */
static uint32_t fill_lesson(mr_search *s, uint32_t point, size_t *count)
{
    uint32_t level = 0;
    *count = 0;
    s->lesson[(*count)++] = opposite(s->trail[point].literal);
    for (size_t i = 0; i < s->marked.count; i++) {
        const mr_assertion *assertion = &s->trail[s->marked.items[i]];
        if (!s->seen[s->marked.items[i]])
            continue;
        s->lesson[*count] = opposite(assertion->literal);
        if (assertion->level > level) {
            level = assertion->level;
            mr_literal later = s->lesson[*count];
            s->lesson[*count] = s->lesson[1];
            s->lesson[1] = later;
        }
        (*count)++;
        s->seen[s->marked.items[i]] = 0;
    }
    return level;
}

static bool learn(mr_search *s, uint32_t point)
{
    void *lesson = s->lesson;
    size_t count;
    if (!mr_grow(&lesson, &s->lesson_capacity, s->marked.count + 2, sizeof *s->lesson))
        return false;
    s->lesson = lesson;
    mr_search_go_back(s, fill_lesson(s, point, &count));
    s->steps += count;
    if (!mr_search_add_clause(s, s->lesson, count, true))
        return false;
    uint32_t clause = (uint32_t)s->clause_count - 1;
    if (count > 1) {
        mr_search_watch(s, clause, 0);
        mr_search_watch(s, clause, 1);
    }
    return mr_search_make_true(s, s->lesson[0], clause);
}

mr_search_result mr_search_resolve(mr_search *s, bool *refuted)
{
    mr_search_clause *c = &s->clauses[s->conflict];
    *refuted = false;
    c->used = ++s->conflicts;
    s->marked.count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (!explain(s, s->literals[c->first + i], s->closure.edge_count))
            return MR_SEARCH_NO_MEMORY;
    uint32_t level = latest_level(s);
    if (!level) {
        *refuted = true;
        return MR_SEARCH_CONFLICT;
    }
    uint32_t point = find_implication_point(s, level);
    if (point == MR_NONE || !learn(s, point))
        return MR_SEARCH_NO_MEMORY;
    return mr_search_propagate(s);
}
