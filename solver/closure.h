/*
 * closure: which nodes of a growing graph come before which, with undo and with reasons.
 *
 * The nodes form chains: those of each chain of threads (trace/chains.h), in its order, and CUT alone.
 * A node is before the next one of its chain without an edge: program order, fork and join say so
 * in every reordering, and events after CUT can stand in trace order. For each node and chain the graph keeps the
 * first node of the chain that the node reaches, so "u before v" is one comparison. When an edge is
 * added, each new "first reached" is sent back along chains and edges, as far as it is news. Every
 * change is an entry of a trail. Undoing to a mark takes the newer entries back; reading the newer
 * entries tells what has become known since.
 *
 * Most nodes of a long trace have no edge, and nobody asks when they get to know something. Such a node reaches
 * beyond its chain what the next node of the chain reaches. So only *live* nodes have entries: the last of each
 * chain, those that an edge leads to or from, and those that somebody keeps (mr_closure_keep). A node that is not
 * live reads the entries of the next live one. A node that becomes live stays so, and begins with the entries that it has read;
 * when an entry of the trail from before that is undone, it has read that one, too.
 *
 * Invariants: the graph is acyclic; with s the slot of the live node u, successors[c][s] = min { rank(v) : v in
 * chain c, u before v }, or MR_NONE, which grows with the rank of u along its chain (for its own chain: rank(u) + 1).
 */
#ifndef MR_SOLVER_CLOSURE_H
#define MR_SOLVER_CLOSURE_H

#include "encoder/encoding.h"

/* A live node got to know an earlier node of a chain; or (chain MR_NONE) an edge into it was added. */
typedef struct mr_closure_trail {
    uint32_t slot, chain, old;
} mr_closure_trail;

typedef struct mr_closure_edge {
    uint32_t from, to, next; /* next edge into the same node, MR_NONE: last */
} mr_closure_edge;

typedef struct mr_closure {
    uint32_t node_count, chain_count;
    uint32_t *chain, *rank, *slot; /* one a node; slot = chain_first[chain] + rank */
    uint32_t *node_at;             /* one a slot */
    uint32_t *chain_first;         /* one a chain: its first slot */
    uint32_t *successors;          /* chain_count × node_count, by slot */
    uint32_t *live_at;             /* one a node: the slot of the first live one from it on */
    uint32_t *live_before; /* one a live slot: the live one before it in its chain, MR_NONE: none */
    size_t *began;    /* one a live slot: trail_count when that began, or as far as it was undone */
    uint32_t *lately; /* slots that became live when there was a trail, oldest first */
    uint32_t lately_count;
    uint32_t *predecessors; /* one a node: its newest edge, MR_NONE: none */
    uint64_t *entered;      /* one bit a slot: an edge leads there */
    mr_closure_edge *edges; /* owned; grows; in the order in which they were added */
    size_t edge_count, edge_capacity;
    mr_closure_trail *trail; /* owned; grows */
    size_t trail_count, trail_capacity;
    mr_u32s queue;                 /* scratch, owned */
    uint32_t *via, *next, *looked; /* scratch of mr_closure_path: two a node, one a chain */
    uint64_t effort;               /* entries and edges looked at, for budgets */
} mr_closure;

typedef enum mr_closure_result {
    MR_CLOSURE_OK,
    MR_CLOSURE_CYCLE, /* the edge contradicts the graph; nothing was changed by it */
    MR_CLOSURE_NO_MEMORY,
} mr_closure_result;

/* The graph of an encoding's edges. MR_CLOSURE_CYCLE: they contradict each other. Memory of `arena`
 * for the fixed parts; free the rest with mr_closure_free, whatever the result. O((nodes + edges) ·
 * chains). */
mr_closure_result mr_closure_init(mr_closure *closure, const mr_encoding *encoding,
                                  mr_arena *arena);
void mr_closure_free(mr_closure *closure);

static inline bool mr_closure_has(const mr_closure *closure, uint32_t u, uint32_t v)
{
    uint32_t chain = closure->chain[v];
    if (chain == closure->chain[u])
        return closure->rank[u] < closure->rank[v];
    return closure->successors[(size_t)chain * closure->node_count + closure->live_at[u]] <=
           closure->rank[v];
}

/* Adds an edge, unless u is known to be before v. O(chains + entries that change). */
mr_closure_result mr_closure_add(mr_closure *closure, uint32_t u, uint32_t v);

/* Makes the node live: the trail tells what it gets to know from now on. O(chains + nodes that read there). */
void mr_closure_keep(mr_closure *closure, uint32_t node);

/* Undoes every addition since trail_count was `mark`. */
void mr_closure_undo(mr_closure *closure, size_t mark);

/*
 * Why was u before v when the graph had `edge_count` edges? Appends the edges of a path from u to
 * v to `path`, in its order: one with few edges. u must have been before v then. False: no memory.
 * O(edges into nodes between u and v).
 */
bool mr_closure_path(mr_closure *closure, uint32_t u, uint32_t v, size_t edge_count, mr_u32s *path);

#endif
