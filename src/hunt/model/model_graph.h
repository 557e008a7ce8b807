/*
 * model_graph: a model (model.h) made ready for a search. Numbers are dense, data that one thread uses
 * is gone, and each node knows what its thread may still do.
 *
 * Pieces. Memory is cut at the ends of all accesses, and at multiples of 8, so that an access is a
 * union of pieces. A piece is tracked when several threads access it and one of them writes it (or
 * frees it). Accesses of other pieces are left out: no other thread can see or change them, so they
 * commute with everything, and what they see is a function of the thread's own history. In a model that merges (model.h) it need not
 * be: there a piece is tracked, too, when one thread alone uses it and a node has read several values of it.
 *
 * Futures. futures(node) is a set of bits that contains bits(operation) of each operation that the
 * thread, or a thread that it creates from there on, may still do, as far as the model knows.
 * Operations a and b do not commute, or one can hinder the other, only when b has a bit of
 * conflicts(a). (model_search.h says why it is enough that the model knows what the search reached.)
 *
 * Ends. The end of the process hinders everybody. But a thread that was joined before has ended by
 * then: joined(node) are the threads that are joined on every way from the node to an EXIT; all
 * threads when there is no such way.
 */
#ifndef MR_HUNT_MODEL_GRAPH_H
#define MR_HUNT_MODEL_GRAPH_H

#include "model.h"

typedef struct mr_graph_piece {
    uint64_t address;
    uint32_t bytes;
    uint64_t readers, writers; /* threads, a bit each */
    bool varies;               /* a node of a model that merges has seen several values */
    uint32_t number;           /* of those that are tracked; MR_PMODEL_NONE */
} mr_graph_piece;

typedef struct mr_graph_node {
    uint8_t kind; /* mr_pmodel_kind; UNKNOWN: a run has to show it */
    bool is_atomic, is_timed, is_once;
    bool loops;     /* UNKNOWN: the thread goes on for ever, and does nothing that others see */
    bool can_write; /* UPDATE */
    uint32_t model; /* the node of the model */
    uint32_t object, other;
    uint32_t piece, piece_count; /* tracked pieces of the access, in `access_pieces` */
    uint32_t edge, edge_count;
    uint32_t conflict, conflict_count; /* bits */
    uint64_t joined;
    uint32_t freed; /* the last FREE before it in its thread, a node; MR_PMODEL_NONE: none */
} mr_graph_node;

typedef struct mr_graph_edge {
    uint32_t outcome;       /* as in the model, of operations that do not read */
    uint32_t seen, written; /* the first of piece_count values; MR_PMODEL_NONE */
    uint32_t to;            /* node */
    uint32_t model;         /* the edge of the model */
} mr_graph_edge;

/* Zero-initialise; free with mr_graph_free. */
typedef struct mr_graph {
    const mr_pmodel *model;
    mr_graph_piece *pieces;
    mr_graph_node *nodes;
    mr_graph_edge *edges;
    uint32_t *access_pieces, *values, *conflicts, *of; /* of: node of the model → node */
    uint64_t *futures;                                 /* future_words for each node */
    uint32_t *initial;    /* by tracked piece: the number of its value, 0: not known */
    uint32_t *roots;      /* by thread */
    mr_map value_numbers; /* value → number, from 1 on */
    size_t piece_count, piece_capacity, node_capacity, edge_capacity, access_piece_count,
        access_piece_capacity, value_count, value_capacity, conflict_count, conflict_capacity;
    uint32_t node_count, edge_count, tracked, object_count, future_words;
    bool has_heads;     /* a thread can come back to where it was */
    bool has_frees;     /* of memory that several threads use */
    uint32_t ambiguous; /* a node of the model whose read of its own data saw several values */
} mr_graph;

/* MR_ERR_MEMORY. */
mr_status mr_graph_make(mr_graph *graph, const mr_pmodel *model, mr_error *error);
void mr_graph_free(mr_graph *graph);

/* The next node that others notice, from a node of the model on. */
static inline uint32_t mr_graph_of(const mr_graph *graph, uint32_t model_node)
{
    return graph->of[model_node];
}

/* Is a byte of a tracked piece one that a read saw changed by nobody? */
bool mr_graph_is_strange(const mr_graph *graph);

static inline bool mr_graph_may(const mr_graph *graph, uint32_t node, uint32_t bit)
{
    return graph->futures[(size_t)node * graph->future_words + bit / 64] >> bit % 64 & 1;
}

#endif
