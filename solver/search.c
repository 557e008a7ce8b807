#include "search.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

mr_truth mr_search_truth(const mr_search *s, mr_literal literal)
{
    if (mr_is_choice(literal)) {
        uint8_t choice = s->choices[literal.u];
        if (choice == MR_OPEN)
            return MR_OPEN;
        return (choice == MR_TRUE) == (literal.v == MR_CHOICE) ? MR_TRUE : MR_FALSE;
    }
    if (mr_closure_has(&s->closure, literal.u, literal.v))
        return MR_TRUE;
    return literal.u == literal.v || mr_closure_has(&s->closure, literal.v, literal.u) ? MR_FALSE
                                                                                       : MR_OPEN;
}

/* The list of watches for what becomes known of a node and a chain. */
static uint32_t *cell_list(mr_search *s, uint32_t slot, uint32_t chain)
{
    return &s->cell_watch[(size_t)chain * s->closure.node_count + slot];
}

/* The list of watches that tells when the literal falls. */
static uint32_t *watch_list(mr_search *s, mr_literal literal)
{
    if (mr_is_choice(literal))
        return &s->choice_watch.items[2 * (size_t)literal.u + (literal.v == MR_NOT_CHOICE)];
    return cell_list(s, s->closure.slot[literal.v], s->closure.chain[literal.u]);
}

/* Watches one of the first two literals of a clause. */
static void watch(mr_search *s, uint32_t clause, uint32_t side)
{
    mr_literal literal = s->literals[s->clauses[clause].first + side];
    uint32_t item = 2 * clause + side, *list = watch_list(s, literal);
    MR_ASSERT(side < 2 && side < s->clauses[clause].count);
    if (!mr_is_choice(literal)) {
        s->watch_rank.items[item] = s->closure.rank[literal.u];
        mr_closure_keep(&s->closure, literal.v);
    }
    s->watch_next.items[item] = *list;
    *list = item;
}

/* ---- making literals true ---- */

static bool grow_trail(mr_search *s)
{
    if (s->trail_count < s->trail_capacity && s->trail_count < s->seen_capacity)
        return true;
    void *trail = s->trail, *seen = s->seen;
    if (!mr_grow(&trail, &s->trail_capacity, s->trail_count + 1, sizeof *s->trail))
        return false;
    s->trail = trail;
    size_t before = s->seen_capacity;
    if (!mr_grow(&seen, &s->seen_capacity, s->trail_count + 1, 1))
        return false;
    s->seen = seen;
    memset(s->seen + before, 0, s->seen_capacity - before);
    return true;
}

/* Makes an open literal true at the present level; `reason`: a clause whose other literals are
 * false, MR_NONE: an assumption. False: no memory. */
static bool make_true(mr_search *s, mr_literal literal, uint32_t reason)
{
    if (!grow_trail(s))
        return false;
    MR_ASSERT_COSTLY(mr_search_truth(s, literal) == MR_OPEN);
    s->trail[s->trail_count] = (mr_assertion){.literal = literal,
                                              .reason = reason,
                                              .level = (uint32_t)s->level_count,
                                              .edge_count = s->closure.edge_count};
    if (mr_is_choice(literal)) {
        MR_ASSERT(s->choices[literal.u] == MR_OPEN);
        s->choices[literal.u] = literal.v == MR_CHOICE ? MR_TRUE : MR_FALSE;
        s->choice_asserted[literal.u] = (uint32_t)s->trail_count++;
        return true;
    }
    if (mr_closure_add(&s->closure, literal.u, literal.v) != MR_CLOSURE_OK ||
        !mr_u32s_push(&s->edge_asserted, (uint32_t)s->trail_count))
        return false;
    s->trail_count++;
    return true;
}

/* Goes back to a level: what was made true later is open again. */
static void go_back(mr_search *s, size_t level)
{
    if (level >= s->level_count)
        return;
    const mr_level *begin = &s->levels[level];
    while (s->trail_count > begin->assertions) {
        mr_literal literal = s->trail[--s->trail_count].literal;
        if (mr_is_choice(literal))
            s->choices[literal.u] = MR_OPEN;
    }
    mr_closure_undo(&s->closure, begin->closure_mark);
    MR_ASSERT(s->closure.edge_count >= s->first_edges);
    s->edge_asserted.count = s->closure.edge_count - s->first_edges;
    s->closure_looked = s->closure.trail_count;
    s->trail_looked = s->trail_count;
    s->late_looked = 0;
    s->level_count = level;
}

/* ---- propagation ---- */

/* A watched literal of the clause is false. `*moved`: another one is watched in its place. */
static mr_search_result visit(mr_search *s, uint32_t clause, uint32_t side, bool *moved)
{
    const mr_search_clause *c = &s->clauses[clause];
    mr_literal *literals = s->literals + c->first;
    mr_truth other = mr_search_truth(s, literals[1 - side]);
    *moved = false;
    MR_ASSERT_COSTLY(mr_search_truth(s, literals[side]) == MR_FALSE);
    s->effort++;
    if (other == MR_TRUE)
        return MR_SEARCH_GOES_ON;
    for (uint32_t i = 2; i < c->count; i++) {
        s->effort++;
        if (mr_search_truth(s, literals[i]) == MR_FALSE)
            continue;
        mr_literal fallen = literals[side];
        literals[side] = literals[i];
        literals[i] = fallen;
        *moved = true;
        return MR_SEARCH_GOES_ON;
    }
    if (other == MR_FALSE) {
        s->conflict = clause;
        return MR_SEARCH_CONFLICT;
    }
    return make_true(s, literals[1 - side], clause) ? MR_SEARCH_GOES_ON : MR_SEARCH_NO_MEMORY;
}

/* Looks at the watches of a list whose u is of rank [reached, end): their literals have fallen. */
static mr_search_result visit_list(mr_search *s, uint32_t *list, uint32_t reached, uint32_t end)
{
    for (uint32_t *at = list; *at != MR_NONE;) {
        uint32_t item = *at, rank = s->watch_rank.items[item];
        uint32_t *next = &s->watch_next.items[item];
        bool moved = false;
        s->effort++;
        if (rank >= reached && rank < end) {
            mr_search_result result = visit(s, item / 2, item % 2, &moved);
            if (result != MR_SEARCH_GOES_ON)
                return result;
        }
        if (moved) {
            *at = *next;
            watch(s, item / 2, item % 2);
        } else {
            at = next;
        }
    }
    return MR_SEARCH_GOES_ON;
}

/*
 * Looks at a clause that is not watched. With two literals that are not false it is watched from
 * now on, at level 0 with one that is true it is done with: then `*settled`.
 */
static mr_search_result visit_late(mr_search *s, uint32_t clause, bool *settled)
{
    const mr_search_clause *c = &s->clauses[clause];
    mr_literal *literals = s->literals + c->first;
    uint32_t open = 0;
    for (uint32_t i = 0; i < c->count && open < 2; i++) {
        s->effort++;
        if (mr_search_truth(s, literals[i]) == MR_FALSE)
            continue;
        mr_literal literal = literals[i];
        literals[i] = literals[open];
        literals[open++] = literal;
    }
    *settled = open == 2 || !s->level_count;
    if (open == 2) {
        watch(s, clause, 0);
        watch(s, clause, 1);
    } else if (!open) {
        s->conflict = clause;
        return MR_SEARCH_CONFLICT;
    } else if (mr_search_truth(s, literals[0]) == MR_OPEN && !make_true(s, literals[0], clause)) {
        return MR_SEARCH_NO_MEMORY;
    }
    return MR_SEARCH_GOES_ON;
}

static mr_search_result propagate_late(mr_search *s)
{
    while (s->late_looked < s->late.count) {
        bool settled;
        mr_search_result result = visit_late(s, s->late.items[s->late_looked], &settled);
        if (result != MR_SEARCH_GOES_ON)
            return result;
        if (settled)
            s->late.items[s->late_looked] = s->late.items[--s->late.count];
        else
            s->late_looked++;
    }
    return MR_SEARCH_GOES_ON;
}

/* What follows from the next choice that was made true. */
static mr_search_result propagate_choice(mr_search *s)
{
    mr_literal literal = s->trail[s->trail_looked++].literal;
    if (!mr_is_choice(literal))
        return MR_SEARCH_GOES_ON; /* the closure tells */
    uint32_t *list = &s->choice_watch.items[2 * (size_t)literal.u + (literal.v == MR_CHOICE)];
    return visit_list(s, list, 0, MR_NONE);
}

/* What follows from the closure's news, up to a list with watches. */
static mr_search_result propagate_order(mr_search *s)
{
    const mr_closure *c = &s->closure;
    while (s->closure_looked < c->trail_count) {
        mr_closure_trail entry = c->trail[s->closure_looked++];
        if (entry.chain == MR_NONE)
            continue;
        uint32_t *list = cell_list(s, entry.slot, entry.chain);
        if (*list != MR_NONE)
            return visit_list(s, list,
                              c->successors[(size_t)entry.chain * c->node_count + entry.slot],
                              entry.old);
    }
    return MR_SEARCH_GOES_ON;
}

/* Costly checks look at the clauses only when there are no more than this. */
enum { CHECKED_CLAUSES = 64 };

static bool is_false(const mr_search *s, const mr_search_clause *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (mr_search_truth(s, s->literals[c->first + i]) != MR_FALSE)
            return false;
    return true;
}

/* How often the clause's literal is in the list that tells when it falls. */
static uint32_t count_watches(mr_search *s, uint32_t clause, uint32_t side)
{
    uint32_t count = 0;
    for (uint32_t item = *watch_list(s, s->literals[s->clauses[clause].first + side]);
         item != MR_NONE; item = s->watch_next.items[item])
        count += item == 2 * clause + side;
    return count;
}

static bool is_late(const mr_search *s, uint32_t clause)
{
    for (size_t i = 0; i < s->late.count; i++)
        if (s->late.items[i] == clause)
            return true;
    return false;
}

/* The invariants of the watches, when all is propagated: a clause that is not late has its first
 * two literals in their lists, once each; one of them is false only if the other is true. A late
 * clause is in no list. A clause that level 0 has settled may be neither. For costly checks. */
static bool are_watches_sound(mr_search *s)
{
    for (uint32_t k = 0; k < s->clause_count && s->clause_count <= CHECKED_CLAUSES; k++) {
        const mr_search_clause *c = &s->clauses[k];
        if (c->count < 2)
            continue;
        uint32_t watched = count_watches(s, k, 0) + count_watches(s, k, 1);
        if (is_late(s, k) ? watched : watched && watched != 2)
            return false;
        mr_truth one = mr_search_truth(s, s->literals[c->first]);
        mr_truth two = mr_search_truth(s, s->literals[c->first + 1]);
        if (watched && one != two && one != MR_TRUE && two != MR_TRUE)
            return false; /* one is false, the other open: it should be true */
        if (watched && one == MR_FALSE && two == MR_FALSE)
            return false;
    }
    return true;
}

/* The trail goes up in levels, and each level has begun with an assumption. For costly checks. */
static bool is_trail_sound(const mr_search *s)
{
    for (size_t i = 0; i < s->trail_count; i++) {
        const mr_assertion *a = &s->trail[i];
        if (a->level > s->level_count || (i && a->level < s->trail[i - 1].level))
            return false;
        if (mr_search_truth(s, a->literal) != MR_TRUE)
            return false;
    }
    for (size_t l = 0; l < s->level_count; l++)
        if (s->levels[l].assertions >= s->trail_count ||
            s->trail[s->levels[l].assertions].reason != MR_NONE)
            return false;
    return true;
}

mr_search_result mr_search_propagate(mr_search *s)
{
    mr_search_result result = MR_SEARCH_GOES_ON;
    while (result == MR_SEARCH_GOES_ON) {
        if (s->late_looked < s->late.count)
            result = propagate_late(s);
        else if (s->trail_looked < s->trail_count)
            result = propagate_choice(s);
        else if (s->closure_looked < s->closure.trail_count)
            result = propagate_order(s);
        else
            break;
    }
    MR_ASSERT_COSTLY(result != MR_SEARCH_GOES_ON || (are_watches_sound(s) && is_trail_sound(s)));
    MR_ASSERT_COSTLY(result != MR_SEARCH_CONFLICT || is_false(s, &s->clauses[s->conflict]));
    return result;
}

mr_search_result mr_search_assume(mr_search *s, mr_literal literal)
{
    MR_REQUIRE(mr_search_truth(s, literal) == MR_OPEN);
    void *levels = s->levels;
    if (!mr_grow(&levels, &s->level_capacity, s->level_count + 1, sizeof *s->levels))
        return MR_SEARCH_NO_MEMORY;
    s->levels = levels;
    s->levels[s->level_count++] =
        (mr_level){.assertions = s->trail_count, .closure_mark = s->closure.trail_count};
    return make_true(s, literal, MR_NONE) ? mr_search_propagate(s) : MR_SEARCH_NO_MEMORY;
}

/* ---- clauses ---- */

/* Adds a clause, not yet watched. False: no memory. */
static bool add_clause(mr_search *s, const mr_literal *literals, size_t count, bool learned)
{
    void *all = s->literals, *clauses = s->clauses;
    if (s->clause_count >= MR_NONE / 2 - 1 ||
        !mr_grow(&all, &s->literal_capacity, s->literal_count + count, sizeof *s->literals))
        return false;
    s->literals = all;
    if (!mr_grow(&clauses, &s->clause_capacity, s->clause_count + 1, sizeof *s->clauses))
        return false;
    s->clauses = clauses;
    for (int side = 0; side < 2; side++)
        if (!mr_u32s_push(&s->watch_next, MR_NONE) || !mr_u32s_push(&s->watch_rank, 0))
            return false;
    memcpy(s->literals + s->literal_count, literals, count * sizeof *literals);
    s->clauses[s->clause_count++] =
        (mr_search_clause){.first = s->literal_count, .count = (uint32_t)count, .learned = learned};
    s->literal_count += count;
    s->learned_count += learned;
    return true;
}

static bool grow_choices(mr_search *s)
{
    uint32_t count = s->formula->choice_count;
    void *choices = s->choices, *asserted = s->choice_asserted;
    if (!mr_grow(&choices, &s->choice_capacity, count, sizeof *s->choices))
        return false;
    s->choices = choices;
    if (!mr_grow(&asserted, &s->choice_asserted_capacity, count, sizeof *s->choice_asserted))
        return false;
    s->choice_asserted = asserted;
    for (; s->choice_count < count; s->choice_count++) {
        s->choices[s->choice_count] = MR_OPEN;
        for (int value = 0; value < 2; value++)
            if (!mr_u32s_push(&s->choice_watch, MR_NONE))
                return false;
    }
    return true;
}

bool mr_search_take(mr_search *s)
{
    const mr_formula *f = s->formula;
    if (!grow_choices(s))
        return false;
    for (; s->taken_edges < f->edge_count; s->taken_edges++)
        if (!add_clause(s, &f->edges[s->taken_edges], 1, false) ||
            !mr_u32s_push(&s->late, (uint32_t)s->clause_count - 1))
            return false;
    for (; s->taken_clauses < f->clause_count; s->taken_clauses++) {
        size_t first = s->taken_clauses ? f->clause_ends[s->taken_clauses - 1] : 0;
        if (!add_clause(s, f->literals + first, f->clause_ends[s->taken_clauses] - first, false) ||
            !mr_u32s_push(&s->late, (uint32_t)s->clause_count - 1))
            return false;
    }
    return true;
}

/* ---- learning ---- */

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
    s->effort++;
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
    MR_ASSERT(assertion->reason < s->clause_count); /* an assumption has none */
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
            MR_ASSERT(at > 0), at--;
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
    uint32_t level = fill_lesson(s, point, &count);
    MR_ASSERT(level < s->level_count); /* else nothing is gained */
    go_back(s, level);
    MR_ASSERT(mr_search_truth(s, s->lesson[0]) == MR_OPEN);
    s->effort += count;
    if (!add_clause(s, s->lesson, count, true))
        return false;
    uint32_t clause = (uint32_t)s->clause_count - 1;
    if (count > 1) {
        watch(s, clause, 0);
        watch(s, clause, 1);
    }
    return make_true(s, s->lesson[0], clause);
}

mr_search_result mr_search_resolve(mr_search *s, bool *refuted)
{
    MR_REQUIRE(s->conflict < s->clause_count);
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

/* ---- starting again ---- */

/* How long a clause may be if there are to be `keep` learned ones. */
static uint32_t bound_length(const mr_search *s, size_t keep)
{
    enum { LENGTHS = 256 };
    size_t of_length[LENGTHS] = {0}, kept = 0;
    for (size_t k = 0; k < s->clause_count; k++)
        if (s->clauses[k].learned && s->clauses[k].count < LENGTHS)
            of_length[s->clauses[k].count]++;
    uint32_t length = 0;
    while (length < LENGTHS - 1 && kept + of_length[length + 1] <= keep)
        kept += of_length[++length];
    return length;
}

static size_t cells(const mr_search *s)
{
    return (size_t)s->closure.node_count * s->closure.chain_count;
}

mr_search_result mr_search_restart(mr_search *s, size_t keep)
{
    uint32_t longest = bound_length(s, keep);
    size_t clauses = 0, literals = 0;
    go_back(s, 0);
    s->late.count = s->late_looked = s->learned_count = 0;
    for (size_t k = 0; k < s->clause_count; k++) {
        mr_search_clause c = s->clauses[k];
        bool holds = c.learned && c.count > longest;
        for (uint32_t i = 0; i < c.count && !holds; i++)
            holds = mr_search_truth(s, s->literals[c.first + i]) == MR_TRUE;
        s->effort += c.count;
        if (holds) /* for good, or it is forgotten */
            continue;
        memmove(s->literals + literals, s->literals + c.first, c.count * sizeof *s->literals);
        c.first = literals;
        literals += c.count;
        s->learned_count += c.learned;
        s->clauses[clauses++] = c;
    }
    MR_ASSERT(!s->level_count && literals <= s->literal_count);
    s->clause_count = clauses;
    s->literal_count = literals;
    s->watch_next.count = s->watch_rank.count = 2 * clauses;
    memset(s->cell_watch, 0xff, cells(s) * sizeof *s->cell_watch);
    for (size_t i = 0; i < s->choice_watch.count; i++)
        s->choice_watch.items[i] = MR_NONE;
    for (size_t k = 0; k < clauses; k++)
        if (!mr_u32s_push(&s->late, (uint32_t)k))
            return MR_SEARCH_NO_MEMORY;
    return mr_search_propagate(s);
}

mr_search_result mr_search_init(mr_search *s, const mr_encoding *encoding, mr_arena *arena)
{
    *s = (mr_search){.formula = &encoding->formula};
    switch (mr_closure_init(&s->closure, encoding, arena)) {
    case MR_CLOSURE_OK:
        break;
    case MR_CLOSURE_CYCLE:
        return MR_SEARCH_CONFLICT;
    case MR_CLOSURE_NO_MEMORY:
        return MR_SEARCH_NO_MEMORY;
    }
    s->first_edges = s->closure.edge_count;
    s->taken_edges = encoding->formula.edge_count;
    s->cell_watch = mr_arena_alloc(arena, cells(s), sizeof *s->cell_watch);
    if (!s->cell_watch)
        return MR_SEARCH_NO_MEMORY;
    memset(s->cell_watch, 0xff, cells(s) * sizeof *s->cell_watch);
    return MR_SEARCH_GOES_ON;
}

void mr_search_free(mr_search *s)
{
    mr_closure_free(&s->closure);
    mr_u32s *arrays[] = {&s->choice_watch,  &s->watch_next, &s->watch_rank, &s->late,
                         &s->edge_asserted, &s->marked,     &s->path};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        mr_u32s_free(arrays[i]);
    free(s->choices);
    free(s->choice_asserted);
    free(s->literals);
    free(s->clauses);
    free(s->trail);
    free(s->levels);
    free(s->seen);
    free(s->lesson);
}
