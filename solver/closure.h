/*
 * closure: which nodes of a growing graph come before which, with undo.
 *
 * The nodes form chains (the nodes of a thread, in program order; CUT alone). For each node and
 * chain the graph keeps the first node of the chain that the node reaches, so "u before v" is one
 * comparison, and adding an edge updates only the nodes whose knowledge grows. Every change is on a
 * trail; going back to a mark undoes what came after it.
 *
 * Invariants: the graph is acyclic; successors[u][c] = min { rank(v) : v in chain c, u before v },
 * or MR_NONE.
 */
#ifndef MR_SOLVER_CLOSURE_H
#define MR_SOLVER_CLOSURE_H

#include "encoder/encoding.h"

typedef struct mr_closure_trail {
    size_t index; /* in `successors`; or SIZE_MAX - node: the node lost its newest predecessor */
    uint32_t old;
} mr_closure_trail;

typedef struct mr_closure_edge {
    uint32_t from, next; /* next predecessor of the same node, MR_NONE: last */
} mr_closure_edge;

typedef struct mr_closure {
    uint32_t node_count, chain_count;
    uint32_t *chain, *rank; /* one a node */
    uint32_t *successors;   /* node_count × chain_count */
    uint32_t *predecessors; /* one a node: its newest edge, MR_NONE: none */
    mr_closure_edge *edges; /* owned; grows */
    size_t edge_count, edge_capacity;
    mr_closure_trail *trail; /* owned; grows */
    size_t trail_count, trail_capacity;
    uint32_t *queue; /* scratch, owned */
    size_t queue_capacity;
    uint64_t work; /* entries of `successors` looked at, for budgets */
} mr_closure;

typedef enum mr_closure_result {
    MR_CLOSURE_OK,
    MR_CLOSURE_CYCLE, /* the edge contradicts the graph; nothing was changed by it */
    MR_CLOSURE_NO_MEMORY,
} mr_closure_result;

/* The graph of an encoding's edges. MR_CLOSURE_CYCLE: they contradict each other. Memory of `arena`
 * for the fixed parts; free the rest with mr_closure_free, whatever the result. O(edges · chains).
 */
mr_closure_result mr_closure_init(mr_closure *closure, const mr_encoding *encoding,
                                  mr_arena *arena);
void mr_closure_free(mr_closure *closure);

static inline bool mr_closure_has(const mr_closure *closure, uint32_t u, uint32_t v)
{
    return closure->successors[(size_t)u * closure->chain_count + closure->chain[v]] <=
           closure->rank[v];
}

mr_closure_result mr_closure_add(mr_closure *closure, uint32_t u, uint32_t v);

/* Undoes every addition since trail_count was `mark`. */
void mr_closure_undo(mr_closure *closure, size_t mark);

#endif
