/* The closure of a growing graph against transitive closure by brute force: random edges, refused
 * cycles, kept nodes, marks and undos; what the trail tells; and that the paths which it gives as reasons are paths. The line of its
 * nodes against an order that is made anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encoder/node_lists.h"
#include "solver/line.h"
#include "support/random.h"
#include "support/setup.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NODES = 40, MOST_THREADS = 12, MOST_MARKS = 32, OPERATIONS = 300 };

/* reaches[u] bit v: u before v. */
typedef struct slow {
    uint64_t reaches[MOST_NODES];
    uint32_t count;
} slow;

static bool slow_has(const slow *s, uint32_t u, uint32_t v)
{
    return s->reaches[u] >> v & 1;
}

/* False: a cycle, nothing changed. */
static bool slow_add(slow *s, uint32_t u, uint32_t v)
{
    if (u == v || slow_has(s, v, u))
        return false;
    uint64_t gained = s->reaches[v] | UINT64_C(1) << v;
    for (uint32_t i = 0; i < s->count; i++)
        if (i == u || slow_has(s, i, u))
            s->reaches[i] |= gained;
    return true;
}

/* An encoding that is nothing but nodes in chains and edges. */
typedef struct graph {
    mr_setup setup;
    mr_encoding encoding;
    uint32_t node_of[MR_NODE_PAGE], *page, event_of[MOST_NODES], cone[MOST_THREADS];
    slow slow; /* of the edges */
} graph;

/* Gives each thread of the trace its nodes, and the edges of program order. What a chain of threads says
 * beyond that is no edge of the formula. */
static void add_nodes(graph *g, mr_random *random)
{
    mr_encoding *e = &g->encoding;
    const mr_window *w = e->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t previous = MR_NONE;
        g->cone[t] = mr_window_length(w, t);
        for (uint32_t k = 0; k < g->cone[t]; k++) {
            if (!mr_op_is_access(mr_window_op(w, mr_window_at(w, t, k))) ||
                !mr_random_percent(random, 80))
                continue;
            uint32_t node = mr_encoding_node(e, mr_window_at(w, t, k));
            if (previous != MR_NONE)
                mr_formula_edge(&e->formula, previous, node);
            previous = node;
        }
    }
}

/* The order of the chains: threads of one chain are numbered in its order. */
static void add_chains(graph *g)
{
    const mr_encoding *e = &g->encoding;
    const mr_window *w = e->window;
    uint32_t last[MOST_THREADS];
    memset(last, 0xff, sizeof last);
    for (uint32_t t = 0; t < w->thread_count; t++) {
        for (uint32_t i = e->thread_first[t]; i < e->thread_first[t + 1]; i++) {
            if (last[w->threads[t].chain] != MR_NONE)
                assert_true(slow_add(&g->slow, last[w->threads[t].chain], e->by_thread[i]));
            last[w->threads[t].chain] = e->by_thread[i];
        }
    }
}

static void open_trace(graph *g, mr_random *random, const char *text)
{
    memset(g, 0, sizeof *g);
    mr_setup_open(&g->setup, text);
    mr_setup_window(&g->setup, 0, (uint32_t)g->setup.trace->event_count, MR_MODEL_RF);
    assert_true(g->setup.window->size <= MOST_NODES &&
                g->setup.window->thread_count <= MOST_THREADS);
    mr_encoding *e = &g->encoding;
    g->page = g->node_of; /* a short window has one */
    *e = (mr_encoding){.window = g->setup.window,
                       .cone = g->cone,
                       .node_pages = &g->page,
                       .event_of = g->event_of,
                       .arena = &g->setup.arena};
    mr_formula_init(&e->formula, 0, 0);
    e->formula.node_count = 1;
    e->event_of[0] = MR_NONE;
    add_nodes(g, random);
    assert_true(mr_node_lists_make(e));
    g->slow.count = e->formula.node_count;
    for (size_t i = 0; i < e->formula.edge_count; i++)
        slow_add(&g->slow, e->formula.edges[i].u, e->formula.edges[i].v);
    add_chains(g);
}

/* A trace of `threads` threads with `length` writes each, in turn. */
static void open_graph(graph *g, mr_random *random, uint32_t threads, uint32_t length)
{
    char text[MOST_NODES * 16] = "";
    for (uint32_t i = 0; i < threads * length; i++)
        sprintf(text + strlen(text), "T%u|w(x)|1\n", i % threads);
    open_trace(g, random, text);
}

/* Rounds of two threads with two writes each, in turn, which are joined before the next round. */
static void open_short_threads(graph *g, mr_random *random, uint32_t rounds)
{
    char text[MOST_NODES * 16] = "";
    for (uint32_t i = 0; i < 2 * rounds; i += 2) {
        sprintf(text + strlen(text), "M|fork(T%u)|1\nM|fork(T%u)|1\n", i, i + 1);
        for (uint32_t k = 0; k < 4; k++)
            sprintf(text + strlen(text), "T%u|w(x)|1\n", i + k % 2);
        sprintf(text + strlen(text), "M|join(T%u)|1\nM|join(T%u)|1\n", i, i + 1);
    }
    open_trace(g, random, text);
}

static void close_graph(graph *g)
{
    mr_formula_free(&g->encoding.formula);
    mr_setup_close(&g->setup);
}

static void compare(const mr_closure *closure, const slow *s)
{
    for (uint32_t u = 0; u < s->count; u++)
        for (uint32_t v = 0; v < s->count; v++)
            assert_int_equal(mr_closure_has(closure, u, v), u != v && slow_has(s, u, v));
}

/* Chains and predecessor lists hold what the order of the nodes is made from. */
static void check_predecessors(const mr_closure *closure, const slow *s)
{
    slow from_lists = {.count = s->count};
    for (uint32_t i = 0; i + 1 < s->count; i++)
        if (closure->chain[closure->node_at[i]] == closure->chain[closure->node_at[i + 1]])
            assert_true(slow_add(&from_lists, closure->node_at[i], closure->node_at[i + 1]));
    for (uint32_t v = 0; v < s->count; v++)
        for (uint32_t e = closure->predecessors[v]; e != MR_NONE; e = closure->edges[e].next)
            assert_true(slow_add(&from_lists, closure->edges[e].from, v));
    assert_memory_equal(from_lists.reaches, s->reaches, s->count * sizeof *s->reaches);
}

/* A path is made of edges of the graph as it was, each from where the last one ended or later in
 * that chain. */
static void check_path(mr_closure *closure, size_t edge_count, uint32_t u, uint32_t v)
{
    mr_u32s path = {0};
    uint32_t at = u;
    assert_true(mr_closure_path(closure, u, v, edge_count, &path));
    for (size_t i = 0; i < path.count; i++) {
        const mr_closure_edge *edge = &closure->edges[path.items[i]];
        assert_true(path.items[i] < edge_count);
        assert_int_equal(closure->chain[at], closure->chain[edge->from]);
        assert_true(closure->rank[at] <= closure->rank[edge->from]);
        at = edge->to;
    }
    assert_int_equal(closure->chain[at], closure->chain[v]);
    assert_true(closure->rank[at] <= closure->rank[v]);
    mr_u32s_free(&path);
}

/* Why it was so at the mark, asked now. */
static void check_paths(mr_closure *closure, const slow *then, size_t edge_count)
{
    for (uint32_t u = 0; u < then->count; u++)
        for (uint32_t v = 0; v < then->count; v++)
            if (slow_has(then, u, v))
                check_path(closure, edge_count, u, v);
}

/* The trail has told that the kept node v reaches u. */
static bool is_told(const mr_closure *closure, size_t from, uint32_t v, uint32_t u)
{
    for (size_t i = from; i < closure->trail_count; i++) {
        const mr_closure_trail *entry = &closure->trail[i];
        if (entry->slot == closure->slot[v] && entry->chain == closure->chain[u] &&
            entry->old > closure->rank[u])
            return true;
    }
    return false;
}

/* What kept nodes have got to know since the trail had `from` entries. */
static void check_told(const mr_closure *closure, size_t from, const slow *was, const slow *s,
                       uint64_t kept)
{
    for (uint32_t v = 0; v < s->count; v++)
        for (uint32_t u = 0; kept >> v & 1 && u < s->count; u++)
            if (slow_has(s, v, u) && !slow_has(was, v, u))
                assert_true(is_told(closure, from, v, u));
}

static void run_operations(graph *g, mr_random *random, mr_closure *closure)
{
    static slow history[MOST_MARKS];
    size_t marks[MOST_MARKS], edges[MOST_MARKS];
    uint32_t depth = 0, cycles = 0;
    uint64_t kept = 0;
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        uint32_t choice = mr_random_below(random, 100);
        if (choice < 15 && depth < MOST_MARKS) {
            history[depth] = g->slow;
            edges[depth] = closure->edge_count;
            marks[depth++] = closure->trail_count;
        } else if (choice < 28 && depth) {
            uint32_t back = mr_random_range(random, 1, depth < 3 ? depth : 3);
            depth -= back;
            g->slow = history[depth];
            mr_closure_undo(closure, marks[depth]);
        } else if (choice < 33) {
            uint32_t node = mr_random_below(random, g->slow.count);
            kept |= UINT64_C(1) << node;
            mr_closure_keep(closure, node);
        } else {
            const slow was = g->slow;
            size_t from = closure->trail_count;
            uint32_t u = mr_random_below(random, g->slow.count);
            uint32_t v = mr_random_below(random, g->slow.count);
            bool added = slow_add(&g->slow, u, v);
            cycles += !added;
            assert_int_equal(mr_closure_add(closure, u, v),
                             added ? MR_CLOSURE_OK : MR_CLOSURE_CYCLE);
            check_told(closure, from, &was, &g->slow, kept);
        }
        compare(closure, &g->slow);
    }
    for (uint32_t d = 0; d < depth; d++)
        check_paths(closure, &history[d], edges[d]);
    check_paths(closure, &g->slow, closure->edge_count);
    check_predecessors(closure, &g->slow);
    assert_true(cycles > 0);
}

static void test_random_edges(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        mr_random random = {seed};
        graph g;
        mr_closure closure;
        uint32_t threads = mr_random_range(&random, 1, 6);
        open_graph(&g, &random, threads, mr_random_range(&random, 1, (MOST_NODES - 1) / threads));
        assert_int_equal(mr_closure_init(&closure, &g.encoding, &g.setup.arena), MR_CLOSURE_OK);
        compare(&closure, &g.slow);
        run_operations(&g, &random, &closure);
        mr_closure_free(&closure);
        close_graph(&g);
    }
}

/* Threads of which one is joined before the next is forked share a chain. */
static void test_short_threads(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        mr_random random = {seed + 77};
        graph g;
        mr_closure closure;
        open_short_threads(&g, &random, 4);
        assert_int_equal(g.setup.window->thread_count, 9);
        assert_int_equal(mr_closure_init(&closure, &g.encoding, &g.setup.arena), MR_CLOSURE_OK);
        assert_true(closure.chain_count <= 3); /* with that of CUT; the main thread has no nodes */
        compare(&closure, &g.slow);
        run_operations(&g, &random, &closure);
        mr_closure_free(&closure);
        close_graph(&g);
    }
}

/* The edges that the graph starts with, not only those of chains, and their cycles. */
static void test_first_edges(void **state)
{
    (void)state;
    uint32_t cycles = 0, acyclic = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        mr_random random = {seed + 12345};
        graph g;
        mr_closure closure;
        bool cycle = false;
        open_graph(&g, &random, mr_random_range(&random, 2, 5), mr_random_range(&random, 1, 7));
        for (uint32_t n = mr_random_below(&random, g.slow.count); n > 0; n--) {
            uint32_t u = mr_random_below(&random, g.slow.count);
            uint32_t v = mr_random_below(&random, g.slow.count);
            mr_formula_edge(&g.encoding.formula, u, v);
            cycle = !slow_add(&g.slow, u, v) || cycle;
        }
        mr_closure_result result = mr_closure_init(&closure, &g.encoding, &g.setup.arena);
        assert_int_equal(result, cycle ? MR_CLOSURE_CYCLE : MR_CLOSURE_OK);
        if (!cycle) {
            compare(&closure, &g.slow);
            check_predecessors(&closure, &g.slow);
        }
        cycles += cycle;
        acyclic += !cycle;
        mr_closure_free(&closure);
        close_graph(&g);
    }
    assert_true(cycles > 50 && acyclic > 50);
}

/* An order of the nodes, made at once. */
typedef struct slow_order {
    const mr_closure *closure;
    uint32_t nodes[MOST_NODES], count;
    bool placed[MOST_NODES];
} slow_order;

/* What comes before the node first, the one before it in its chain before all. */
static void slow_place(slow_order *order, uint32_t node)
{
    const mr_closure *c = order->closure;
    if (order->placed[node])
        return;
    if (c->rank[node])
        slow_place(order, c->node_at[c->slot[node] - 1]);
    for (uint32_t e = c->predecessors[node]; e != MR_NONE; e = c->edges[e].next)
        slow_place(order, c->edges[e].from);
    order->placed[node] = true;
    order->nodes[order->count++] = node;
}

/* The nodes before CUT, CUT, the others, each as the trace has them but for what must be. */
static void check_line(const mr_line *line, const graph *g, const mr_closure *closure)
{
    slow_order order = {.closure = closure};
    for (int side = 0; side < 2; side++) {
        for (uint32_t event = 0; event < MOST_NODES; event++)
            if (g->node_of[event] && (side || mr_closure_has(closure, g->node_of[event] - 1, 0)))
                slow_place(&order, g->node_of[event] - 1);
        slow_place(&order, 0); /* CUT */
    }
    assert_int_equal(order.count, g->slow.count);
    for (uint32_t i = 1; i < order.count; i++)
        assert_true(line->order[order.nodes[i - 1]] < line->order[order.nodes[i]]);
}

/* The line follows a closure to which edges are added, some with CUT, and from which they are taken. */
static void test_line(void **state)
{
    size_t early = 0, before_cut = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        mr_random random = {seed + 500};
        graph g;
        mr_closure closure;
        mr_line line;
        int64_t order[MOST_NODES];
        size_t marks[MOST_MARKS], mark_count = 0;
        open_graph(&g, &random, 2 + (uint32_t)seed % 3, 9);
        assert_int_equal(mr_closure_init(&closure, &g.encoding, &g.setup.arena), MR_CLOSURE_OK);
        assert_true(mr_line_init(&line, &g.encoding, &closure, order, &g.setup.arena));
        for (int i = 0; i < OPERATIONS; i++) {
            uint32_t u = mr_random_below(&random, g.slow.count);
            uint32_t v =
                mr_random_percent(&random, 20) ? 0 : mr_random_below(&random, g.slow.count);
            if (mark_count < MOST_MARKS && mr_random_percent(&random, 30))
                marks[mark_count++] = closure.trail_count;
            if (mark_count && mr_random_percent(&random, 20))
                mr_closure_undo(&closure, marks[--mark_count]);
            else
                assert_int_not_equal(mr_closure_add(&closure, u, v), MR_CLOSURE_NO_MEMORY);
            if (!mr_random_percent(&random, 60))
                continue;
            assert_true(mr_line_update(&line));
            check_line(&line, &g, &closure);
            early += line.early_count;
            before_cut += line.included[0];
        }
        mr_line_free(&line);
        mr_closure_free(&closure);
        close_graph(&g);
    }
    assert_true(early > 1000 && before_cut > 1000);
}

/* An addition that finds no memory says so; what is freed then is all there is. */
static void test_no_memory(void **state)
{
    (void)state;
    bool complete = false;
    for (uint64_t fail_at = 1; !complete; fail_at++) {
        mr_random random = {7};
        graph g;
        mr_closure closure;
        open_graph(&g, &random, 4, 9);
        mr_memory_fail_after(fail_at);
        mr_closure_result result = mr_closure_init(&closure, &g.encoding, &g.setup.arena);
        for (uint32_t u = 1; u + 1 < g.slow.count && result != MR_CLOSURE_NO_MEMORY; u++)
            result = mr_closure_add(&closure, u, u + 1);
        mr_memory_fail_after(0);
        complete = result != MR_CLOSURE_NO_MEMORY;
        assert_true(complete || fail_at < 50);
        mr_closure_free(&closure);
        close_graph(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_edges), cmocka_unit_test(test_short_threads),
        cmocka_unit_test(test_first_edges),  cmocka_unit_test(test_line),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
