#include "encoding.h"

#include "barrier_pairs.h"
#include "base/assert.h"
#include "branches.h"
#include "end_state.h"
#include "forced.h"
#include "fork_join.h"
#include "known.h"
#include "lazy.h"
#include "lives.h"
#include "locks.h"
#include "node_lists.h"
#include "program_order.h"
#include "race.h"
#include "reads.h"
#include "semaphores.h"

#include <string.h>

/* After a page that could not be made no other is: so there are no more nodes than events (event_of). */
static uint32_t *page_of(mr_encoding *encoding, uint32_t event)
{
    uint32_t **page = &encoding->node_pages[event / MR_NODE_PAGE];
    if (!*page && !encoding->lost)
        *page = mr_arena_zalloc(encoding->arena, MR_NODE_PAGE, sizeof **page);
    encoding->lost |= !*page;
    return *page ? *page : encoding->spare_page;
}

uint32_t mr_encoding_node(mr_encoding *encoding, uint32_t event)
{
    uint32_t *node = &page_of(encoding, event)[event % MR_NODE_PAGE];
    if (!*node) {
        MR_ASSERT(mr_encoding_in_cone(encoding, event));
        encoding->event_of[encoding->formula.node_count] = event;
        *node = ++encoding->formula.node_count;
    }
    return *node - 1;
}

bool mr_encoding_in_cone(const mr_encoding *encoding, uint32_t event)
{
    const mr_window *w = encoding->window;
    return w->position[event] < encoding->cone[w->thread[event]];
}

bool mr_encoding_is_required(const mr_encoding *encoding, uint32_t event)
{
    const mr_window *w = encoding->window;
    return w->position[event] < encoding->required[w->thread[event]];
}

bool mr_encoding_has_region(const mr_encoding *encoding)
{
    return encoding->options.end > 0;
}

bool mr_encoding_in_region(const mr_encoding *encoding, uint32_t event)
{
    const mr_encoding_options *options = &encoding->options;
    return !mr_encoding_has_region(encoding) || (options->first <= event && event < options->end);
}

static void add(const mr_encoding *encoding, mr_clause *clause, mr_literal literal)
{
    MR_ASSERT(clause->count < MR_CLAUSE_LITERALS);
    MR_ASSERT(literal.u != literal.v || encoding->lost);
    clause->literals[clause->count++] = literal;
}

/* Folds before(u, v) by what is known of the question. True: it is folded. When it holds, known.h
 * states the order by an edge, so both events become nodes. */
static bool fold_known(mr_encoding *encoding, mr_clause *clause, uint32_t u, uint32_t v)
{
    const mr_known *known = encoding->options.known;
    if (!known)
        return false;
    if (mr_known_before(known, v, u))
        return true;
    clause->holds = mr_known_before(known, u, v);
    if (clause->holds) {
        mr_encoding_node(encoding, u);
        mr_encoding_node(encoding, v);
    }
    return clause->holds;
}

void mr_clause_before(mr_encoding *encoding, mr_clause *clause, uint32_t u, uint32_t v)
{
    bool fold = !encoding->options.plain;
    if (clause->holds || (fold && mr_precedes(encoding->forced, v, u)))
        return;
    if (fold && mr_precedes(encoding->forced, u, v))
        clause->holds = true;
    else if (!fold || !fold_known(encoding, clause, u, v))
        add(encoding, clause,
            mr_before(mr_encoding_node(encoding, u), mr_encoding_node(encoding, v)));
}

void mr_clause_unless_included(mr_encoding *encoding, mr_clause *clause, uint32_t event)
{
    if (!clause->holds && (encoding->options.plain || !mr_encoding_is_required(encoding, event)))
        add(encoding, clause, mr_before(encoding->cut, mr_encoding_node(encoding, event)));
}

void mr_clause_choice(mr_clause *clause, uint32_t choice, bool positive)
{
    MR_ASSERT(clause->count < MR_CLAUSE_LITERALS);
    if (!clause->holds)
        clause->literals[clause->count++] = mr_choice(choice, positive);
}

void mr_clause_end(mr_encoding *encoding, const mr_clause *clause)
{
    if (clause->holds)
        mr_formula_skip(&encoding->formula);
    else
        mr_formula_clause(&encoding->formula, clause->literals, clause->count);
}

/* Plain: a node for each event of C but accesses that nobody else may see. */
static void make_all_nodes(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        for (uint32_t k = 0; k < encoding->cone[t]; k++) {
            uint32_t event = mr_window_at(w, t, k);
            if (!mr_op_is_access(mr_window_op(w, event)) || w->variables[w->object[event]].shared ||
                mr_window_end_of_life(w, event) != MR_NONE)
                mr_encoding_node(encoding, event);
        }
    }
}

/* The first position of a thread whose event is not before this one. */
static uint32_t position_of(const mr_window *w, uint32_t thread, uint32_t event)
{
    uint32_t low = 0, high = mr_window_length(w, thread);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (mr_window_at(w, thread, middle) < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Fills `from` and `to`. False: no memory. */
static bool find_region(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    const mr_encoding_options *options = &encoding->options;
    encoding->from = mr_arena_zalloc(encoding->arena, w->thread_count, sizeof *encoding->from);
    encoding->to = mr_arena_alloc(encoding->arena, w->thread_count, sizeof *encoding->to);
    if (!encoding->from || !encoding->to)
        return false;
    memcpy(encoding->to, encoding->cone, w->thread_count * sizeof *encoding->to);
    for (uint32_t t = 0; mr_encoding_has_region(encoding) && t < w->thread_count; t++) {
        uint32_t end = position_of(w, t, options->end);
        encoding->from[t] = position_of(w, t, options->first);
        encoding->to[t] = end < encoding->to[t] ? end : encoding->to[t];
    }
    return true;
}

/* Everything but the formula. False: no memory. */
static bool prepare(mr_encoding *encoding)
{
    const mr_window *window = encoding->window;
    mr_arena *arena = encoding->arena;
    encoding->node_pages = mr_arena_zalloc(arena, (size_t)window->size / MR_NODE_PAGE + 1,
                                           sizeof *encoding->node_pages);
    encoding->spare_page = mr_arena_zalloc(arena, MR_NODE_PAGE, sizeof *encoding->spare_page);
    encoding->event_of = mr_arena_alloc(arena, (size_t)window->size + 1, sizeof(uint32_t));
    encoding->chains = mr_arena_alloc(arena, 4 * (size_t)window->thread_count, sizeof(uint32_t));
    encoding->choices = mr_arena_alloc(arena, (size_t)window->size + 2, sizeof(uint32_t));
    encoding->literals = mr_arena_alloc(arena, (size_t)window->size + 2, sizeof(mr_literal));
    if (!encoding->node_pages || !encoding->spare_page || !encoding->event_of ||
        !encoding->chains || !encoding->choices || !encoding->literals || !find_region(encoding))
        return false;
    encoding->event_of[encoding->cut] = MR_NONE;
    encoding->formula.node_count = 1;
    if (!mr_branches_prepare(encoding, arena))
        return false;
    return !encoding->options.lazy || mr_lazy_prepare(encoding, encoding->options.stage);
}

static bool encode(mr_encoding *encoding)
{
    if (encoding->options.plain)
        make_all_nodes(encoding);
    if (!encoding->lazy)
        mr_encode_locks(encoding);
    mr_encode_semaphores(encoding);
    mr_encode_branches(encoding);
    mr_encode_reads(encoding);
    mr_encode_lives(encoding);
    mr_encode_end_state(encoding);
    mr_encode_stops(encoding);
    mr_encode_barrier_pairs(encoding);
    mr_encode_fork_join(encoding);
    if (encoding->lost || !mr_node_lists_make(encoding)) /* what follows links nodes */
        return false;
    mr_encode_race(encoding);
    mr_encode_program_order(encoding);
    mr_encode_known(encoding);
    return mr_encode_forced(encoding) && !encoding->lost;
}

bool mr_encoding_build(mr_encoding *encoding, const mr_window *window, const mr_precedence *hard,
                       const mr_precedence *forced, const uint32_t *required, const uint32_t *cone,
                       const mr_goal *goal, const mr_encoding_options *options, mr_arena *arena)
{
    *encoding = (mr_encoding){.options = *options,
                              .window = window,
                              .hard = hard,
                              .forced = forced,
                              .required = required,
                              .cone = cone,
                              .goal = goal,
                              .cut = 0,
                              .arena = arena};
    MR_REQUIRE(!options->plain || (!options->lazy && !options->known));
    MR_REQUIRE(!options->end || (options->lazy && !options->known && mr_goal_only_stops(goal) &&
                                 window->model != MR_MODEL_BRANCH));
    for (uint32_t t = 0; t < window->thread_count; t++)
        MR_REQUIRE(required[t] <= cone[t] && cone[t] <= mr_window_length(window, t));
    for (uint32_t i = 0; i < goal->stop_count; i++)
        MR_REQUIRE(goal->stops[i].count &&
                   !mr_encoding_in_cone(encoding, mr_stops_last(&goal->stops[i])));
    mr_formula_init(&encoding->formula, options->max_clauses, options->max_bytes);
    return prepare(encoding) && encode(encoding);
}

void mr_encoding_free(mr_encoding *encoding)
{
    mr_lazy_free(encoding->lazy);
    mr_formula_free(&encoding->formula);
}
