#include "line.h"

#include "base/assert.h"
#include "base/memory.h"
#include "encoder/lazy.h"

#include <stdlib.h>
#include <string.h>

/* Of a node: it stands early now, or did at the last look. */
enum { EARLY = 1, WAS_EARLY = 2 };

enum { PLACE_BITS = 30 };
#define LAST_PLACE ((INT64_C(1) << PLACE_BITS) - 1)
#define AFTER_CUT  (INT64_C(1) << 62)

/* Which side of CUT is put in order, and the node whose turn it is. */
typedef struct turn {
    bool after_cut;
    uint32_t node;
} turn;

static bool is_included(const mr_line *l, uint32_t node)
{
    return mr_closure_has(l->closure, node, l->encoding->cut);
}

static int64_t place_of(const mr_line *l, uint32_t node)
{
    return (int64_t)l->encoding->event_of[node] << PLACE_BITS;
}

/* Where the node stands when it is not early. */
static int64_t usual(const mr_line *l, uint32_t node, bool after_cut)
{
    return place_of(l, node) + LAST_PLACE + (after_cut ? AFTER_CUT : 0);
}

static void touch(const mr_line *l, uint32_t node)
{
    if (l->encoding->lazy)
        mr_lazy_touch(l->encoding, node);
}

/* ---- sides of CUT ---- */

static void put(mr_line *l, uint32_t node, bool after_cut)
{
    l->effort += 2;
    l->order[node] = usual(l, node, after_cut);
    touch(l, node);
}

static uint32_t chain_length(const mr_closure *c, uint32_t chain)
{
    uint32_t end = chain + 1 < c->chain_count ? c->chain_first[chain + 1] : c->node_count;
    return end - c->chain_first[chain];
}

static void update_sides(mr_line *l)
{
    const mr_closure *c = l->closure;
    for (uint32_t chain = 0; chain + 1 < c->chain_count; chain++) { /* the last one is CUT's */
        const uint32_t *nodes = c->node_at + c->chain_first[chain];
        uint32_t *count = &l->included[chain], length = chain_length(c, chain);
        while (*count < length && is_included(l, nodes[*count]))
            put(l, nodes[(*count)++], false);
        while (*count && !is_included(l, nodes[*count - 1]))
            put(l, nodes[--*count], true);
    }
    l->effort += c->chain_count;
}

/* ---- early nodes ---- */

static bool is_placed(const mr_line *l, turn now, uint32_t node)
{
    if (node == l->encoding->cut)
        return now.after_cut;
    if (l->state[node] & EARLY)
        return true;
    if (is_included(l, node) == now.after_cut)
        return now.after_cut; /* one after CUT is not needed by one before it */
    return l->encoding->event_of[node] < l->encoding->event_of[now.node];
}

/* A node that is known to be before this one and not placed yet; MR_NONE: there is none. */
static uint32_t unplaced_before(mr_line *l, turn now, uint32_t node)
{
    const mr_closure *c = l->closure;
    l->effort++;
    if (c->rank[node] && !is_placed(l, now, c->node_at[c->slot[node] - 1]))
        return c->node_at[c->slot[node] - 1];
    for (uint32_t e = c->predecessors[node]; e != MR_NONE; e = c->edges[e].next) {
        l->effort++;
        if (!is_placed(l, now, c->edges[e].from))
            return c->edges[e].from;
    }
    return MR_NONE;
}

static bool be_early(mr_line *l, turn now, uint32_t node, int64_t place)
{
    void *early = l->early;
    if (!mr_grow(&early, &l->early_capacity, l->early_count + 1, sizeof *l->early))
        return false;
    l->early = early;
    MR_ASSERT(place < LAST_PLACE);
    l->early[l->early_count++].node = node;
    l->order[node] = place_of(l, now.node) + place + (now.after_cut ? AFTER_CUT : 0);
    if (!(l->state[node] & WAS_EARLY))
        touch(l, node);
    l->state[node] |= EARLY;
    return true;
}

/* Puts what a node needs, and is not placed at its turn, before it. `*again`: the effort of another look, which would find all of it
 * placed. */
static bool pull(mr_line *l, turn now, uint64_t *again)
{
    int64_t place = 0;
    l->pending.count = 0;
    *again = 0;
    if (is_placed(l, now, now.node)) /* early itself */
        return true;
    if (!mr_u32s_push(&l->pending, now.node))
        return false;
    while (l->pending.count) {
        uint32_t top = l->pending.items[l->pending.count - 1];
        uint64_t effort = l->effort;
        uint32_t before = unplaced_before(l, now, top);
        *again = l->effort - effort;
        if (before != MR_NONE) {
            MR_ASSERT(l->pending.count < l->closure->node_count); /* no cycle */
            if (!mr_u32s_push(&l->pending, before))
                return false;
            continue;
        }
        l->pending.count--;
        if (top != now.node && !be_early(l, now, top, place++))
            return false;
    }
    return true;
}

/* ---- edges that lead backwards ---- */

static bool is_backwards(const mr_line *l, const mr_closure_edge *edge)
{
    const mr_encoding *e = l->encoding;
    return edge->from != e->cut && edge->to != e->cut &&
           e->event_of[edge->from] > e->event_of[edge->to];
}

static bool add_backwards(mr_line *l, size_t first, size_t end, mr_u32s *to)
{
    l->effort += end - first;
    for (size_t e = first; e < end; e++)
        if (is_backwards(l, &l->closure->edges[e]) && !mr_u32s_push(to, l->closure->edges[e].to))
            return false;
    return true;
}

/* The nodes of one side of CUT that an edge leads to backwards, in trace order: nodes are sorted by
 * their events, which are looked up again. One to which several edges lead is there several times. */
static bool pull_all(mr_line *l, bool after_cut)
{
    uint64_t again = 0;
    for (size_t i = 0; i < l->targets.count; i++) {
        if (i && l->targets.items[i] == l->targets.items[i - 1]) {
            l->effort += again;
            continue;
        }
        again = 0;
        turn now = {after_cut, mr_encoding_find(l->encoding, l->targets.items[i]) - 1};
        if (is_included(l, now.node) != after_cut && !pull(l, now, &again))
            return false;
    }
    return true;
}

static bool find_targets(mr_line *l)
{
    l->targets.count = 0;
    for (size_t i = 0; i < l->backwards.count; i++)
        if (!mr_u32s_push(&l->targets, l->backwards.items[i]))
            return false;
    if (!add_backwards(l, l->first_edges, l->closure->edge_count, &l->targets))
        return false;
    l->effort += l->backwards.count;
    for (size_t i = 0; i < l->targets.count; i++)
        l->targets.items[i] = l->encoding->event_of[l->targets.items[i]];
    if (l->targets.count)
        qsort(l->targets.items, l->targets.count, sizeof *l->targets.items, mr_compare_u32);
    return true;
}

/* ---- all ---- */

bool mr_line_init(mr_line *l, const mr_encoding *encoding, const mr_closure *closure,
                  int64_t *order, mr_arena *arena)
{
    uint32_t count = closure->node_count;
    *l = (mr_line){.encoding = encoding,
                   .closure = closure,
                   .order = order,
                   .first_edges = closure->edge_count};
    l->state = mr_arena_zalloc(arena, count, sizeof *l->state);
    l->included = mr_arena_zalloc(arena, closure->chain_count, sizeof *l->included);
    if (!l->state || !l->included)
        return false;
    for (uint32_t node = 0; node < count; node++)
        order[node] = usual(l, node, true);
    order[encoding->cut] = usual(l, encoding->cut, false); /* its event is the last of all */
    l->effort += count;
    return add_backwards(l, 0, closure->edge_count, &l->backwards);
}

void mr_line_free(mr_line *l)
{
    mr_u32s *arrays[] = {&l->backwards, &l->targets, &l->pending};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        mr_u32s_free(arrays[i]);
    free(l->early);
}

/* Begins a new list of early nodes behind the old one, and notes where those of the old one stood.
 * Returns the length of the old list. */
static size_t forget_early(mr_line *l)
{
    for (size_t i = 0; i < l->early_count; i++) {
        uint32_t node = l->early[i].node;
        l->early[i].position = l->order[node];
        l->state[node] = WAS_EARLY;
    }
    return l->early_count;
}

/* Touches the nodes of the old list that have moved, and drops that list. */
static void compare_early(mr_line *l, size_t was)
{
    for (size_t i = 0; i < was; i++) {
        uint32_t node = l->early[i].node;
        l->state[node] &= EARLY;
        if (l->order[node] != l->early[i].position)
            touch(l, node);
    }
    l->early_count -= was;
    l->effort += was;
    if (was && l->early_count)
        memmove(l->early, l->early + was, l->early_count * sizeof *l->early);
}

bool mr_line_update(mr_line *l)
{
    size_t was = forget_early(l);
    update_sides(l);
    for (size_t i = 0; i < was; i++)
        l->order[l->early[i].node] = usual(l, l->early[i].node, !is_included(l, l->early[i].node));
    if (!find_targets(l) || !pull_all(l, false) || !pull_all(l, true))
        return false;
    compare_early(l, was);
    return true;
}
