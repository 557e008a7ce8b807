#include "closure.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *row(const mr_closure *closure, uint32_t node)
{
    return closure->successors + (size_t)node * closure->chain_count;
}

/* Chains: the nodes of each thread in program order; CUT, of no thread, is a chain of its own. */
static void build_chains(mr_closure *closure, const mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    uint32_t chains = 0;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t rank = 0;
        for (uint32_t k = 0; k < encoding->cone[t]; k++) {
            uint32_t node = encoding->node_of[mr_window_at(w, t, k)];
            if (!node)
                continue;
            closure->chain[node - 1] = chains;
            closure->rank[node - 1] = rank++;
        }
        chains += rank > 0;
    }
    closure->chain[encoding->cut] = chains++;
    closure->rank[encoding->cut] = 0;
    closure->chain_count = chains;
}

static bool link(mr_closure *closure, uint32_t u, uint32_t v)
{
    void *edges = closure->edges;
    if (closure->edge_count >= MR_NONE ||
        !mr_grow(&edges, &closure->edge_capacity, closure->edge_count + 1, sizeof *closure->edges))
        return false;
    closure->edges = edges;
    closure->edges[closure->edge_count] =
        (mr_closure_edge){.from = u, .next = closure->predecessors[v]};
    closure->predecessors[v] = (uint32_t)closure->edge_count++;
    return true;
}

/* Takes over what v reaches, and v itself. Changes are put on the trail when `record`. */
static bool relax(mr_closure *closure, uint32_t u, uint32_t v, bool record, bool *changed)
{
    uint32_t *to = row(closure, u);
    const uint32_t *from = row(closure, v);
    uint32_t chains = closure->chain_count;
    *changed = false;
    closure->work += chains;
    for (uint32_t c = 0; c < chains; c++) {
        uint32_t value = c == closure->chain[v] ? closure->rank[v] : from[c];
        if (value >= to[c])
            continue;
        if (record) {
            void *trail = closure->trail;
            if (!mr_grow(&trail, &closure->trail_capacity, closure->trail_count + 1,
                         sizeof *closure->trail))
                return false;
            closure->trail = trail;
            closure->trail[closure->trail_count++] =
                (mr_closure_trail){.index = (size_t)(to - closure->successors) + c, .old = to[c]};
        }
        to[c] = value;
        *changed = true;
    }
    return true;
}

/* All nodes, every one after its predecessors (Kahn). False: a cycle. */
static bool topological(const mr_closure *closure, const mr_formula *formula, uint32_t *nodes,
                        uint32_t *waiting, uint32_t *first_out, uint32_t *out)
{
    uint32_t count = closure->node_count, filled = 0;
    for (size_t e = 0; e < formula->edge_count; e++) {
        waiting[formula->edges[e].v]++;
        first_out[formula->edges[e].u + 1]++;
    }
    for (uint32_t i = 0; i < count; i++)
        first_out[i + 1] += first_out[i];
    for (size_t e = formula->edge_count; e-- > 0;)
        out[--first_out[formula->edges[e].u + 1]] = formula->edges[e].v;
    /* first_out[i + 1] is now where the edges of i begin. */
    for (uint32_t i = 0; i < count; i++)
        if (!waiting[i])
            nodes[filled++] = i;
    for (uint32_t done = 0; done < filled; done++) {
        uint32_t node = nodes[done];
        size_t end = node + 1 < count ? first_out[node + 2] : formula->edge_count;
        for (size_t e = first_out[node + 1]; e < end; e++)
            if (!--waiting[out[e]])
                nodes[filled++] = out[e];
    }
    return filled == count;
}

static mr_closure_result build_edges(mr_closure *closure, const mr_formula *formula,
                                     mr_arena *arena)
{
    uint32_t count = closure->node_count;
    uint32_t *nodes = mr_arena_alloc(arena, count, sizeof *nodes);
    uint32_t *waiting = mr_arena_zalloc(arena, count, sizeof *waiting);
    uint32_t *first_out = mr_arena_zalloc(arena, (size_t)count + 2, sizeof *first_out);
    uint32_t *out = mr_arena_alloc(arena, formula->edge_count, sizeof *out);
    if (!nodes || !waiting || !first_out || !out)
        return MR_CLOSURE_NO_MEMORY;
    if (!topological(closure, formula, nodes, waiting, first_out, out))
        return MR_CLOSURE_CYCLE;
    for (size_t e = 0; e < formula->edge_count; e++)
        if (!link(closure, formula->edges[e].u, formula->edges[e].v))
            return MR_CLOSURE_NO_MEMORY;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t node = nodes[i];
        for (uint32_t e = closure->predecessors[node]; e != MR_NONE; e = closure->edges[e].next) {
            bool changed;
            if (!relax(closure, closure->edges[e].from, node, false, &changed))
                return MR_CLOSURE_NO_MEMORY;
        }
    }
    return MR_CLOSURE_OK;
}

mr_closure_result mr_closure_init(mr_closure *closure, const mr_encoding *encoding, mr_arena *arena)
{
    uint32_t count = encoding->formula.node_count;
    *closure = (mr_closure){.node_count = count};
    closure->chain = mr_arena_alloc(arena, count, sizeof *closure->chain);
    closure->rank = mr_arena_alloc(arena, count, sizeof *closure->rank);
    closure->predecessors = mr_arena_alloc(arena, count, sizeof *closure->predecessors);
    if (!closure->chain || !closure->rank || !closure->predecessors)
        return MR_CLOSURE_NO_MEMORY;
    build_chains(closure, encoding);
    size_t cells = (size_t)count * closure->chain_count;
    closure->successors = mr_arena_alloc(arena, cells, sizeof *closure->successors);
    if (!closure->successors)
        return MR_CLOSURE_NO_MEMORY;
    memset(closure->successors, 0xff, cells * sizeof *closure->successors);
    memset(closure->predecessors, 0xff, count * sizeof *closure->predecessors);
    return build_edges(closure, &encoding->formula, arena);
}

void mr_closure_free(mr_closure *closure)
{
    free(closure->edges);
    free(closure->trail);
    free(closure->queue);
}

static bool enqueue(mr_closure *closure, size_t *count, uint32_t node)
{
    void *queue = closure->queue;
    if (!mr_grow(&queue, &closure->queue_capacity, *count + 1, sizeof *closure->queue))
        return false;
    closure->queue = queue;
    closure->queue[(*count)++] = node;
    return true;
}

mr_closure_result mr_closure_add(mr_closure *closure, uint32_t u, uint32_t v)
{
    if (u == v || mr_closure_has(closure, v, u))
        return MR_CLOSURE_CYCLE;
    if (mr_closure_has(closure, u, v))
        return MR_CLOSURE_OK;
    void *trail = closure->trail;
    if (!mr_grow(&trail, &closure->trail_capacity, closure->trail_count + 1,
                 sizeof *closure->trail))
        return MR_CLOSURE_NO_MEMORY;
    closure->trail = trail;
    if (!link(closure, u, v))
        return MR_CLOSURE_NO_MEMORY;
    closure->trail[closure->trail_count++] = (mr_closure_trail){.index = SIZE_MAX - v};
    size_t pending = 0;
    bool changed;
    if (!relax(closure, u, v, true, &changed) || !enqueue(closure, &pending, u))
        return MR_CLOSURE_NO_MEMORY;
    while (pending) {
        uint32_t node = closure->queue[--pending];
        for (uint32_t e = closure->predecessors[node]; e != MR_NONE; e = closure->edges[e].next) {
            uint32_t from = closure->edges[e].from;
            if (!relax(closure, from, node, true, &changed) ||
                (changed && !enqueue(closure, &pending, from)))
                return MR_CLOSURE_NO_MEMORY;
        }
    }
    return MR_CLOSURE_OK;
}

void mr_closure_undo(mr_closure *closure, size_t mark)
{
    while (closure->trail_count > mark) {
        mr_closure_trail entry = closure->trail[--closure->trail_count];
        if (entry.index < (size_t)closure->node_count * closure->chain_count) {
            closure->successors[entry.index] = entry.old;
        } else {
            uint32_t node = (uint32_t)(SIZE_MAX - entry.index);
            closure->predecessors[node] = closure->edges[closure->predecessors[node]].next;
            closure->edge_count--;
        }
    }
}
