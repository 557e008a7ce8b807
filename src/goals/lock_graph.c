#include "lock_graph.h"

#include "base/keys.h"
#include "holds.h"

#include <stdlib.h>

/* The edges of a lock are targets[first[lock] … first[lock + 1]). */
typedef struct graph {
    uint32_t lock_count, *first, *targets;
} graph;

static bool add_edges(mr_keys *edges, const mr_trace *trace, const mr_thread_holds *held,
                      uint32_t event)
{
    uint32_t number;
    for (size_t i = 0; i < held->count; i++)
        if (held->items[i].lock != trace->operand[event] &&
            !mr_keys_add(edges, (uint64_t)held->items[i].lock << 32 | trace->operand[event],
                         &number))
            return false;
    return true;
}

static bool find_edges(const mr_trace *trace, mr_keys *edges)
{
    mr_holds holds = {0};
    bool ok = mr_holds_init(&holds, trace);
    for (uint32_t e = 0; ok && e < trace->event_count; e++) {
        mr_trace_pass(trace, e);
        const mr_thread_holds *held = &holds.threads[trace->thread[e]];
        ok = (!mr_holds_may_wait(trace, held, e) || add_edges(edges, trace, held, e)) &&
             mr_holds_step(&holds, trace, e);
    }
    mr_holds_free(&holds);
    return ok;
}

/* Sorts the edges by the lock that they come from. */
static bool sort_edges(const mr_keys *edges, graph *g)
{
    g->first = mr_calloc((size_t)g->lock_count + 2, sizeof *g->first);
    g->targets = mr_calloc((size_t)edges->count + 1, sizeof *g->targets);
    if (!g->first || !g->targets)
        return false;
    for (uint32_t i = 1; i <= edges->count; i++)
        g->first[(edges->items[i] >> 32) + 2]++;
    for (uint32_t lock = 0; lock < g->lock_count; lock++)
        g->first[lock + 2] += g->first[lock + 1];
    for (uint32_t i = 1; i <= edges->count; i++)
        g->targets[g->first[(edges->items[i] >> 32) + 1]++] = (uint32_t)edges->items[i];
    return true;
}

/* Tarjan's state. `order` is 0 before a lock is visited. A lock on `path` is being visited, one on
 * `open` belongs to no component so far. */
typedef struct tarjan {
    const graph *g;
    uint32_t *order, *low, *next, *path, *open, *component;
    uint32_t visited, path_count, open_count, component_count;
} tarjan;

static void enter(tarjan *s, uint32_t lock)
{
    s->order[lock] = s->low[lock] = ++s->visited;
    s->next[lock] = s->g->first[lock];
    s->path[s->path_count++] = lock;
    s->open[s->open_count++] = lock;
}

/* All locks that can be reached are visited: the lock may be the first of a component. */
static void leave(tarjan *s, uint32_t lock)
{
    s->path_count--;
    if (s->path_count && s->low[s->path[s->path_count - 1]] > s->low[lock])
        s->low[s->path[s->path_count - 1]] = s->low[lock];
    if (s->low[lock] != s->order[lock])
        return;
    bool alone = s->open[s->open_count - 1] == lock;
    s->component_count += !alone;
    for (uint32_t other = MR_NONE; other != lock;) {
        other = s->open[--s->open_count];
        s->component[other] = alone ? 0 : s->component_count;
        s->low[other] = UINT32_MAX; /* no way back into it */
        s->order[other] = UINT32_MAX;
    }
}

static void visit(tarjan *s, uint32_t start)
{
    enter(s, start);
    while (s->path_count) {
        uint32_t lock = s->path[s->path_count - 1];
        if (s->next[lock] == s->g->first[lock + 1]) {
            leave(s, lock);
            continue;
        }
        uint32_t target = s->g->targets[s->next[lock]++];
        if (!s->order[target])
            enter(s, target);
        else if (s->order[target] < s->low[lock])
            s->low[lock] = s->order[target];
    }
}

static bool find_components(const graph *g, uint32_t *component)
{
    size_t count = (size_t)g->lock_count + 1;
    uint32_t *memory = mr_calloc(5 * count, sizeof *memory);
    if (!memory)
        return false;
    tarjan s = {.g = g,
                .order = memory,
                .low = memory + count,
                .next = memory + 2 * count,
                .path = memory + 3 * count,
                .open = memory + 4 * count,
                .component = component};
    for (uint32_t lock = 0; lock < g->lock_count; lock++)
        if (!s.order[lock])
            visit(&s, lock);
    free(memory);
    return true;
}

bool mr_lock_components(const mr_trace *trace, uint32_t **component)
{
    mr_keys edges = {0};
    graph g = {.lock_count = trace->locks.count};
    *component = mr_calloc((size_t)g.lock_count + 1, sizeof **component);
    bool ok = *component && find_edges(trace, &edges) &&
              (!edges.count || (sort_edges(&edges, &g) && find_components(&g, *component)));
    mr_keys_free(&edges);
    free(g.first);
    free(g.targets);
    if (!ok) {
        free(*component);
        *component = NULL;
    }
    return ok;
}
