/*
 * line: the nodes of a formula in an order, kept while the search goes forward and back.
 *
 * The order is the trace, but for what the closure asks for: what need not stand before CUT comes after
 * it, and a node that must be before an earlier one of the trace stands right before that one, with all that it
 * needs there. On a long trace nearly all nodes stand where the trace has them, whatever the search
 * assumes. So only what has changed since the last look at the closure is moved:
 *
 *   - the nodes of a thread that stand before CUT are its first ones, and how many there are changes a
 *     little at a time;
 *   - a node can be early only because of an edge that leads backwards in the trace. Of these there
 *     are few.
 *
 * Positions. With e the event of a node, its position is e * 2^30 + 2^30 - 1; that of an early node is e' * 2^30 +
 * k, when it is the k-th one that stands before the node of e'. After CUT 2^62 is added. So all
 * positions differ, and a node that stays where it is keeps its number.
 *
 * The lazy part of the encoding is told which nodes have moved (mr_lazy_touch).
 */
#ifndef MR_SOLVER_LINE_H
#define MR_SOLVER_LINE_H

#include "closure.h"

typedef struct mr_early {
    uint32_t node;
    int64_t position; /* before the last look */
} mr_early;

typedef struct mr_line {
    const mr_encoding *encoding;
    const mr_closure *closure;
    int64_t *order;     /* one a node: its position; of the caller */
    size_t first_edges; /* of the closure, which are there for good */
    mr_u32s backwards;  /* nodes that one of these leads to, backwards in the trace; owned */
    mr_u32s targets;    /* nodes that any edge leads to so; owned, scratch */
    mr_u32s pending;    /* owned, scratch */
    mr_early *early;    /* owned; the nodes that do not stand where the trace has them */
    size_t early_count, early_capacity;
    uint8_t *state;     /* one a node; arena */
    uint32_t *included; /* one a chain: how many of its nodes are before CUT; arena */
    uint64_t effort;    /* nodes and edges looked at */
} mr_line;

/* The line of a closure that has the formula's edges alone; `order` has room for all nodes. Free with
 * mr_line_free, whatever the result. False: no memory. O(nodes + edges). */
bool mr_line_init(mr_line *line, const mr_encoding *encoding, const mr_closure *closure,
                  int64_t *order, mr_arena *arena);
void mr_line_free(mr_line *line);

/* Puts the nodes into the order that the closure asks for now. O(edges since the beginning + nodes
 * that move or are early + edges into these). False: no memory. */
bool mr_line_update(mr_line *line);

#endif
