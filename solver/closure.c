#include "closure.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *column(const mr_closure *closure, uint32_t chain)
{
    return closure->successors + (size_t)chain * closure->node_count;
}

static bool is_entered(const mr_closure *closure, uint32_t slot)
{
    return closure->entered[slot / 64] >> slot % 64 & 1;
}

/* The place in chain_first of each chain of the window that has nodes; the chains without nodes are
 * passed over. CUT, of no thread, is a chain of its own. `place`: one a chain of the window, scratch. */
static void place_chains(mr_closure *closure, const mr_encoding *encoding, uint32_t *place)
{
    const mr_window *w = encoding->window;
    uint32_t chains = 0, slot = 0;
    memset(place, 0, w->chain_count * sizeof *place);
    for (uint32_t t = 0; t < w->thread_count; t++)
        place[w->threads[t].chain] += encoding->thread_first[t + 1] - encoding->thread_first[t];
    for (uint32_t c = 0; c < w->chain_count; c++) {
        uint32_t length = place[c];
        place[c] = chains;
        closure->chain_first[chains] = slot;
        chains += length > 0;
        slot += length;
    }
    closure->chain_first[chains++] = slot;
    closure->chain_count = chains;
}

/* Chains: the nodes of a chain of threads, in its order, which is that of the numbers of its threads
 * (windows/window.h). `place` and `length`: one a chain of the window, scratch. */
static void build_chains(mr_closure *closure, const mr_encoding *encoding, uint32_t *place,
                         uint32_t *length)
{
    const mr_window *w = encoding->window;
    place_chains(closure, encoding, place);
    memset(length, 0, w->chain_count * sizeof *length);
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t chain = w->threads[t].chain;
        for (uint32_t i = encoding->thread_first[t]; i < encoding->thread_first[t + 1]; i++) {
            uint32_t node = encoding->by_thread[i];
            closure->chain[node] = place[chain];
            closure->rank[node] = length[chain]++;
            closure->slot[node] = closure->chain_first[place[chain]] + closure->rank[node];
            closure->node_at[closure->slot[node]] = node;
        }
    }
    closure->chain[encoding->cut] = closure->chain_count - 1;
    closure->rank[encoding->cut] = 0;
    closure->slot[encoding->cut] = closure->chain_first[closure->chain_count - 1];
    closure->node_at[closure->slot[encoding->cut]] = encoding->cut;
}

static bool link_nodes(mr_closure *closure, uint32_t u, uint32_t v)
{
    void *edges = closure->edges;
    if (closure->edge_count >= MR_NONE ||
        !mr_grow(&edges, &closure->edge_capacity, closure->edge_count + 1, sizeof *closure->edges))
        return false;
    closure->edges = edges;
    closure->edges[closure->edge_count] =
        (mr_closure_edge){.from = u, .to = v, .next = closure->predecessors[v]};
    closure->predecessors[v] = (uint32_t)closure->edge_count++;
    closure->entered[closure->slot[v] / 64] |= UINT64_C(1) << closure->slot[v] % 64;
    mr_closure_keep(closure, u);
    mr_closure_keep(closure, v);
    return true;
}

/* ---- live nodes ---- */

/* The slot has entries of its own from now on, which have not been filled. Those before it read there, back to
 * the live one before it. */
static void make_live(mr_closure *closure, uint32_t slot, uint32_t before)
{
    uint32_t rank = closure->rank[closure->node_at[slot]];
    for (uint32_t s = before == MR_NONE ? slot - rank : before + 1; s <= slot; s++) {
        closure->live_at[closure->node_at[s]] = slot;
        closure->effort++;
    }
    closure->live_before[slot] = before;
    closure->began[slot] = closure->trail_count;
    column(closure, closure->chain[closure->node_at[slot]])[slot] = rank + 1;
}

void mr_closure_keep(mr_closure *closure, uint32_t node)
{
    uint32_t slot = closure->slot[node], next = closure->live_at[node];
    if (slot == next)
        return;
    for (uint32_t c = 0; c < closure->chain_count; c++)
        column(closure, c)[slot] = column(closure, c)[next];
    closure->effort += closure->chain_count;
    make_live(closure, slot, closure->live_before[next]);
    closure->live_before[next] = slot;
    if (closure->trail_count)
        closure->lately[closure->lately_count++] = slot;
}

/* Takes back an entry of the trail, which is no longer in it: for the slot, and for those before it that read
 * there at the time of the entry, as they have become live since. */
static void restore(mr_closure *closure, mr_closure_trail entry)
{
    uint32_t *reached = column(closure, entry.chain), slot = entry.slot;
    do {
        reached[slot] = entry.old;
        slot = closure->live_before[slot];
    } while (slot != MR_NONE && closure->began[slot] > closure->trail_count);
}

/* The trail has become shorter: what became live later did so at its end. */
static void bound_beginnings(mr_closure *closure)
{
    for (uint32_t i = closure->lately_count; i-- > 0;) {
        size_t *began = &closure->began[closure->lately[i]];
        if (*began <= closure->trail_count)
            break;
        *began = closure->trail_count;
    }
    while (closure->lately_count && !closure->began[closure->lately[closure->lately_count - 1]])
        closure->lately_count--;
}

/* Does the chain say that u is before v? */
static bool chained(const mr_closure *closure, uint32_t u, uint32_t v)
{
    return closure->chain[u] == closure->chain[v] && closure->rank[u] < closure->rank[v];
}

/* The live node after this live one in its chain; MR_NONE: it is the last. */
static uint32_t after(const mr_closure *closure, uint32_t node)
{
    uint32_t slot = closure->slot[node] + 1;
    if (slot == closure->node_count)
        return MR_NONE;
    uint32_t next = closure->node_at[slot];
    return closure->chain[next] == closure->chain[node] ? closure->node_at[closure->live_at[next]]
                                                        : MR_NONE;
}

/* All live nodes, every one after its predecessors; scratch memory of an arena. */
typedef struct sorted {
    uint32_t *nodes, count;
    uint32_t *waiting;         /* one a node */
    uint32_t *first_out, *out; /* two more than nodes; one an edge */
} sorted;

/* The edges from each node, and for how many each live node waits. */
static void list_edges(const mr_closure *closure, sorted *s)
{
    uint32_t count = closure->node_count;
    for (size_t e = 0; e < closure->edge_count; e++) {
        s->waiting[closure->edges[e].to]++;
        s->first_out[closure->edges[e].from + 2]++;
    }
    for (uint32_t i = 0; i < count; i++) {
        s->waiting[i] += closure->live_at[i] == closure->slot[i] &&
                         closure->live_before[closure->slot[i]] != MR_NONE;
        s->first_out[i + 2] += s->first_out[i + 1];
    }
    for (size_t e = 0; e < closure->edge_count; e++)
        s->out[s->first_out[closure->edges[e].from + 1]++] = closure->edges[e].to;
}

/* Kahn. False: a cycle. */
static bool sort(const mr_closure *closure, sorted *s)
{
    uint32_t count = closure->node_count, live = 0;
    list_edges(closure, s);
    for (uint32_t i = 0; i < count; i++) { /* in chains, so that what follows runs along memory */
        uint32_t node = closure->node_at[i];
        live += closure->live_at[node] == i;
        if (closure->live_at[node] == i && !s->waiting[node])
            s->nodes[s->count++] = node;
    }
    for (uint32_t done = 0; done < s->count; done++) {
        uint32_t node = s->nodes[done], next = after(closure, node);
        for (uint32_t e = s->first_out[node]; e < s->first_out[node + 1]; e++)
            if (!--s->waiting[s->out[e]])
                s->nodes[s->count++] = s->out[e];
        if (next != MR_NONE && !--s->waiting[next])
            s->nodes[s->count++] = next;
    }
    return s->count == live;
}

static void lower(uint32_t *entry, uint32_t value)
{
    if (value < *entry)
        *entry = value;
}

/* Costly checks look at the whole graph only when it has no more nodes than this. */
enum { CHECKED_NODES = 64 };

/* Is the graph closed? What an edge or a chain leads to, and what is reached from there, is reached:
 * the invariant of the header. For costly checks. */
static bool passes_on(const mr_closure *closure, uint32_t u, uint32_t v)
{
    uint32_t from = closure->slot[u], to = closure->slot[v];
    if (column(closure, closure->chain[v])[from] > closure->rank[v])
        return false;
    for (uint32_t c = 0; c < closure->chain_count; c++)
        if (column(closure, c)[from] > column(closure, c)[to])
            return false;
    return true;
}

/* The node's live one, and what that one is to have with the next in its chain. */
static bool is_live_sound(const mr_closure *closure, uint32_t node)
{
    uint32_t slot = closure->live_at[node];
    if (slot < closure->slot[node] || slot >= closure->node_count ||
        closure->chain[closure->node_at[slot]] != closure->chain[node])
        return false;
    /* A node of its own chain is reached only if there is a cycle. */
    if (column(closure, closure->chain[node])[slot] <= closure->rank[node])
        return false;
    uint32_t next = after(closure, closure->node_at[slot]);
    if (next == MR_NONE)
        return true;
    if (closure->live_before[closure->slot[next]] != slot)
        return false;
    for (uint32_t c = 0; c < closure->chain_count; c++)
        if (column(closure, c)[slot] > column(closure, c)[closure->slot[next]])
            return false;
    return true;
}

static bool is_closed(const mr_closure *closure)
{
    if (closure->node_count > CHECKED_NODES)
        return true;
    for (size_t e = 0; e < closure->edge_count; e++)
        if (!passes_on(closure, closure->edges[e].from, closure->edges[e].to))
            return false;
    for (uint32_t node = 0; node < closure->node_count; node++)
        if (!is_live_sound(closure, node))
            return false;
    return true;
}

/* What each live node reaches in the chain. */
static void fill_column(mr_closure *closure, uint32_t chain, const sorted *s)
{
    uint32_t *reached = column(closure, chain);
    for (uint32_t i = s->count; i-- > 0;) {
        uint32_t node = s->nodes[i], slot = closure->slot[node],
                 before = closure->live_before[slot];
        uint32_t value = closure->chain[node] == chain ? closure->rank[node] : reached[slot];
        if (value == MR_NONE)
            continue;
        if (before != MR_NONE)
            lower(&reached[before], value);
        for (uint32_t e = closure->predecessors[node]; e != MR_NONE; e = closure->edges[e].next)
            lower(&reached[closure->slot[closure->edges[e].from]], value);
    }
    closure->effort += s->count + closure->edge_count;
}

static mr_closure_result build_edges(mr_closure *closure, const mr_formula *formula,
                                     mr_arena *arena)
{
    uint32_t count = closure->node_count;
    sorted s = {.nodes = mr_arena_alloc(arena, count, sizeof *s.nodes),
                .waiting = mr_arena_zalloc(arena, count, sizeof *s.waiting),
                .first_out = mr_arena_zalloc(arena, (size_t)count + 2, sizeof *s.first_out),
                .out = mr_arena_alloc(arena, formula->edge_count, sizeof *s.out)};
    if (!s.nodes || !s.waiting || !s.first_out || !s.out)
        return MR_CLOSURE_NO_MEMORY;
    for (size_t e = 0; e < formula->edge_count; e++)
        if (!chained(closure, formula->edges[e].u, formula->edges[e].v) &&
            !link_nodes(closure, formula->edges[e].u, formula->edges[e].v))
            return MR_CLOSURE_NO_MEMORY;
    if (!sort(closure, &s))
        return MR_CLOSURE_CYCLE;
    for (uint32_t c = 0; c < closure->chain_count; c++)
        fill_column(closure, c, &s);
    MR_ASSERT_COSTLY(is_closed(closure));
    return MR_CLOSURE_OK;
}

mr_closure_result mr_closure_init(mr_closure *closure, const mr_encoding *encoding, mr_arena *arena)
{
    uint32_t count = encoding->formula.node_count, chains = encoding->window->chain_count;
    *closure = (mr_closure){.node_count = count};
    uint32_t **arrays[] = {&closure->chain,   &closure->rank,         &closure->slot,
                           &closure->node_at, &closure->predecessors, &closure->via,
                           &closure->next,    &closure->live_at,      &closure->live_before,
                           &closure->lately};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i] = mr_arena_alloc(arena, count, sizeof **arrays[i])))
            return MR_CLOSURE_NO_MEMORY;
    uint32_t *place = mr_arena_alloc(arena, chains, sizeof *place);
    closure->chain_first = mr_arena_alloc(arena, (size_t)chains + 1, sizeof(uint32_t));
    closure->looked = mr_arena_alloc(arena, (size_t)chains + 1, sizeof(uint32_t));
    closure->entered = mr_arena_zalloc(arena, count / 64 + 1, sizeof *closure->entered);
    closure->began = mr_arena_alloc(arena, count, sizeof *closure->began);
    if (!place || !closure->chain_first || !closure->looked || !closure->entered || !closure->began)
        return MR_CLOSURE_NO_MEMORY;
    build_chains(closure, encoding, place, closure->looked);
    size_t cells = (size_t)count * closure->chain_count;
    closure->successors = mr_arena_alloc(arena, cells, sizeof *closure->successors);
    if (!closure->successors)
        return MR_CLOSURE_NO_MEMORY;
    memset(closure->successors, 0xff, cells * sizeof *closure->successors);
    memset(closure->predecessors, 0xff, count * sizeof *closure->predecessors);
    for (uint32_t c = 0; c < closure->chain_count; c++)
        make_live(closure, (c + 1 < closure->chain_count ? closure->chain_first[c + 1] : count) - 1,
                  MR_NONE);
    return build_edges(closure, &encoding->formula, arena);
}

void mr_closure_free(mr_closure *closure)
{
    free(closure->edges);
    free(closure->trail);
    mr_u32s_free(&closure->queue);
}

static bool note(mr_closure *closure, mr_closure_trail entry)
{
    if (closure->trail_count == closure->trail_capacity) {
        void *trail = closure->trail;
        if (!mr_grow(&trail, &closure->trail_capacity, closure->trail_count + 1,
                     sizeof *closure->trail))
            return false;
        closure->trail = trail;
    }
    closure->trail[closure->trail_count++] = entry;
    return true;
}

/* Node u, and what reaches it, reaches rank `value` of the chain. False: no memory. */
static bool spread(mr_closure *closure, uint32_t u, uint32_t chain, uint32_t value)
{
    uint32_t *reached = column(closure, chain);
    closure->queue.count = 0;
    if (!mr_u32s_push(&closure->queue, u))
        return false;
    while (closure->queue.count) {
        uint32_t node = closure->queue.items[--closure->queue.count];
        for (uint32_t s = closure->slot[node]; s != MR_NONE && reached[s] > value;
             s = closure->live_before[s]) {
            if (!note(closure, (mr_closure_trail){s, chain, reached[s]}))
                return false;
            reached[s] = value;
            closure->effort++;
            if (!is_entered(closure, s))
                continue;
            for (uint32_t e = closure->predecessors[closure->node_at[s]]; e != MR_NONE;
                 e = closure->edges[e].next) {
                uint32_t from = closure->edges[e].from;
                closure->effort++;
                if (reached[closure->slot[from]] > value && !mr_u32s_push(&closure->queue, from))
                    return false;
            }
        }
    }
    return true;
}

mr_closure_result mr_closure_add(mr_closure *closure, uint32_t u, uint32_t v)
{
    MR_REQUIRE(u < closure->node_count && v < closure->node_count);
    if (u == v || mr_closure_has(closure, v, u))
        return MR_CLOSURE_CYCLE;
    if (mr_closure_has(closure, u, v))
        return MR_CLOSURE_OK;
    if (!link_nodes(closure, u, v))
        return MR_CLOSURE_NO_MEMORY;
    if (!note(closure, (mr_closure_trail){closure->slot[v], MR_NONE, 0}))
        return MR_CLOSURE_NO_MEMORY;
    for (uint32_t c = 0; c < closure->chain_count; c++) {
        const uint32_t *reached = column(closure, c);
        uint32_t value = c == closure->chain[v] ? closure->rank[v] : reached[closure->slot[v]];
        if (value < reached[closure->slot[u]] && !spread(closure, u, c, value))
            return MR_CLOSURE_NO_MEMORY;
    }
    closure->effort += closure->chain_count;
    MR_ASSERT(mr_closure_has(closure, u, v));
    MR_ASSERT_COSTLY(is_closed(closure));
    return MR_CLOSURE_OK;
}

void mr_closure_undo(mr_closure *closure, size_t mark)
{
    MR_REQUIRE(mark <= closure->trail_count);
    while (closure->trail_count > mark) {
        mr_closure_trail entry = closure->trail[--closure->trail_count];
        if (entry.chain != MR_NONE) {
            restore(closure, entry);
            continue;
        }
        uint32_t *newest = &closure->predecessors[closure->node_at[entry.slot]];
        MR_ASSERT(*newest + (size_t)1 == closure->edge_count); /* edges are undone newest first */
        *newest = closure->edges[*newest].next;
        if (*newest == MR_NONE)
            closure->entered[entry.slot / 64] &= ~(UINT64_C(1) << entry.slot % 64);
        closure->edge_count--;
    }
    bound_beginnings(closure);
    MR_ASSERT_COSTLY(is_closed(closure));
}

/* The first slot in [slot, end) that an edge leads to; `end`: none. */
static uint32_t next_entered(const mr_closure *closure, uint32_t slot, uint32_t end)
{
    while (slot < end) {
        uint64_t bits = closure->entered[slot / 64] >> slot % 64;
        if (bits) {
            slot += (uint32_t)__builtin_ctzll(bits);
            return slot < end ? slot : end;
        }
        slot = (slot / 64 + 1) * 64;
    }
    return end;
}

/* A search for a path, backwards from its end. */
typedef struct path_search {
    mr_closure *closure;
    uint32_t u, found; /* found: the node of u's chain where it arrived, MR_NONE: not yet */
    size_t edge_count;
} path_search;

/* Follows the edges into one node, from nodes that u reaches or is. False: no memory. */
static bool follow(path_search *p, uint32_t to, uint32_t node)
{
    mr_closure *c = p->closure;
    for (uint32_t e = c->predecessors[to]; e != MR_NONE; e = c->edges[e].next) {
        uint32_t from = c->edges[e].from;
        c->effort++;
        bool arrived = from == p->u || chained(c, p->u, from);
        if (e >= p->edge_count || (!arrived && !mr_closure_has(c, p->u, from)))
            continue;
        /* What is no later than a node seen before in its chain tells nothing new. */
        if (!arrived && c->looked[c->chain[from]] > c->slot[from])
            continue;
        c->via[from] = e;
        c->next[from] = node;
        if (arrived) {
            p->found = from;
            return true;
        }
        if (!mr_u32s_push(&c->queue, from))
            return false;
    }
    return true;
}

bool mr_closure_path(mr_closure *c, uint32_t u, uint32_t v, size_t edge_count, mr_u32s *path)
{
    path_search p = {.closure = c, .u = u, .found = MR_NONE, .edge_count = edge_count};
    if (chained(c, u, v))
        return true;
    MR_ASSERT_COSTLY(mr_closure_has(c, u, v));
    memset(c->looked, 0, c->chain_count * sizeof *c->looked);
    c->effort += c->chain_count;
    c->queue.count = 0;
    c->next[v] = MR_NONE;
    if (!mr_u32s_push(&c->queue, v))
        return false;
    for (size_t done = 0; p.found == MR_NONE; done++) {
        MR_ASSERT(done < c->queue.count);
        uint32_t node = c->queue.items[done], chain = c->chain[node], end = c->slot[node] + 1;
        uint32_t slot = c->chain_first[chain] + column(c, chain)[c->live_at[u]];
        if (c->looked[chain] > slot)
            slot = c->looked[chain];
        if (slot >= end)
            continue;
        c->looked[chain] = end;
        for (; p.found == MR_NONE && (slot = next_entered(c, slot, end)) < end; slot++)
            if (!follow(&p, c->node_at[slot], node))
                return false;
    }
    for (uint32_t node = p.found; c->next[node] != MR_NONE; node = c->next[node]) {
        MR_ASSERT(c->via[node] < edge_count);
        if (!mr_u32s_push(path, c->via[node]))
            return false;
    }
    return true;
}
