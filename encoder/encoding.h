/*
 * encoding: the formula of one goal of a window.
 *
 * Meaning. The nodes of the formula are events of the window and one node CUT. A solution places
 * them on a line; an event is *included* in the reordering when it stands before CUT. The formula
 * is satisfiable iff a reordering rho exists (docs/semantics.md 2) within the window that ends in the
 * goal (goal.h). Of a race (a, b): after which a and b are the next events of their threads.
 *
 * Cone. Only the events of the cone C take part, a prefix of each thread: L, the events that are
 * required before the stops (of a race: a and b); and the events, not after a stop, that can help an event of C: releases
 * of its locks, posts of its semaphores, and, for a value-treated read, writes of its value.
 * Restricting any witness to C leaves a witness: C is closed under everything that an included
 * event needs (precedence FORCED), under the releases of its acquires, the posts whose units its
 * waits may take and the writes its reads can see.
 *
 * Inclusion by order. With CUT, "e included implies its predecessors included" needs no clause: if
 * p must be before e, then e before CUT gives p before CUT. Edges (program order, fork, join,
 * BarrierPairs) hold for all events of C, included or not: the events after CUT can always stand in
 * trace order. Every other constraint is guarded: it is required only if the events that it is
 * about are included. So an open critical section, a deadlock after the race or an unreadable value
 * beyond it rule out nothing. The guard "e is not included" is the literal before(CUT, e).
 *
 *   phi(goal)  =       race(L, CUT)          race.h
 *                 and  end_state(C)          end_state.h
 *                 and  locks(C)              locks.h
 *                 and  semaphores(C)         semaphores.h
 *                 and  branches(C)           branches.h
 *                 and  reads(C)              reads.h
 *                 and  lives(C)              lives.h
 *                 and  barrier_pairs(C)      barrier_pairs.h
 *                 and  fork_join(C)          fork_join.h
 *                 and  program_order(C)      program_order.h
 *                 and  known(C)              known.h: edges that follow from the rest
 *                 and  forced(C)             forced.h: likewise
 *
 * Only events that some constraint names become nodes; program order links the nodes of a thread.
 *
 * Folding. FORCED precedence and what is known of this question (known.h) fold literals: before(u,
 * v) is false, and left out, when v is certainly before u; it is true, and its clause is left out,
 * when u is certainly before v. "Not included(e)" is false when e is required. Where a header says
 * that a literal is not folded, precedence may know the order from that very clause.
 *
 * Plain. For comparison, the same formula without all that is not needed to be right: nothing is
 * folded, required events are guarded like others, every event of C but the accesses that only one
 * thread sees is a node, and every pair of sections has its clause. With precedence HARD in the
 * place of FORCED and C = U it is the papers' formula, but for CUT and the guards.
 *
 * Knows windows; nothing of Z3, files, options.
 */
#ifndef MR_ENCODER_ENCODING_H
#define MR_ENCODER_ENCODING_H

#include "formula.h"
#include "goal.h"
#include "windows/precedence.h"

typedef struct mr_known mr_known; /* known.h */

typedef struct mr_encoding_options {
    size_t max_clauses; /* 0: no limit */
    uint64_t max_bytes; /* that the formula may take; 0: no limit */
    bool plain;
    bool lazy;      /* clauses of locks and reads are left out until an order asks for them: lazy.h;
                       not with plain */
    uint32_t stage; /* lazy: how many writers a read is offered at first; 0: all */
    const mr_known *known; /* NULL: nothing but `forced`; not with `plain` */
    /* lazy: the formula is about window events [first, end) alone, as lazy.h says; end 0: about all. Not
     * with `known`, nor in model branch, nor for more than stops. */
    uint32_t first, end;
} mr_encoding_options;

typedef struct mr_lazy mr_lazy;

typedef struct mr_encoding {
    mr_encoding_options options;
    const mr_window *window;
    const mr_precedence *hard, *forced;
    const uint32_t *required; /* L, as a number of events for each thread */
    const uint32_t *cone;     /* C, likewise */
    const mr_goal *goal;      /* a race: a and b, or lists of accesses in their place; see race.h */
    mr_formula formula;       /* owned */
    uint32_t **node_pages;    /* by mr_encoding_find; arena */
    uint32_t *spare_page;     /* what is read when there was no memory for a page; arena */
    bool lost;                /* there was none */
    uint32_t *event_of;       /* one a node: event of the window; MR_NONE for CUT; arena */
    uint32_t cut;             /* node 0 */
    uint32_t *from, *to;      /* one a thread: its events of C that are in the region, by position:
                                 [from, to); arena */
    /* The nodes but CUT, listed when all are there (node_lists.h): in trace order; and by thread, in program
     * order, with where each thread begins, and the end. Arena. */
    uint32_t *by_trace, *by_thread, *thread_first;
    mr_arena *arena;       /* for what parts of the formula need while they are built */
    uint32_t *constrained; /* one a thread: how many events of C whose reads must be consistent
                                 as branches.h says; arena */
    uint32_t *clean;       /* model branch, one an event: branches.h; arena */
    uint32_t *chains;      /* scratch of locks.c: four a thread; arena */
    uint32_t *choices;     /* scratch of reads.c: one an event, and two more; arena */
    mr_literal *literals;  /* likewise */
    mr_lazy *lazy;         /* what lazy.h needs; NULL: the formula is whole; arena */
} mr_encoding;

/*
 * Encodes the goal whose required events and cone are given (solver/cone.h). Memory of
 * `arena`, except the formula's. False: no memory. Look at formula.contradiction, too_large,
 * out_of_memory afterwards. Free with mr_encoding_free.
 */
bool mr_encoding_build(mr_encoding *encoding, const mr_window *window, const mr_precedence *hard,
                       const mr_precedence *forced, const uint32_t *required, const uint32_t *cone,
                       const mr_goal *goal, const mr_encoding_options *options, mr_arena *arena);
void mr_encoding_free(mr_encoding *encoding);

/* The node of an event, made when it has none. Without memory it is any node, and the encoding will not be
 * complete. */
uint32_t mr_encoding_node(mr_encoding *encoding, uint32_t event);

/* The node of an event + 1; 0: it has none. In pages of events side by side, made for those that have
 * nodes: nodes are few in a region or a small cone of a large window. */
enum { MR_NODE_PAGE = 256 };
static inline uint32_t mr_encoding_find(const mr_encoding *encoding, uint32_t event)
{
    const uint32_t *page = encoding->node_pages[event / MR_NODE_PAGE];
    return page ? page[event % MR_NODE_PAGE] : 0;
}

/* Is the formula about a region alone? Is the event in it? Without a region, each is. */
bool mr_encoding_has_region(const mr_encoding *encoding);
bool mr_encoding_in_region(const mr_encoding *encoding, uint32_t event);

/* Is the event in the cone? Is it required, i.e. included in every solution? */
bool mr_encoding_in_cone(const mr_encoding *encoding, uint32_t event);
bool mr_encoding_is_required(const mr_encoding *encoding, uint32_t event);

/* A clause under construction. Literals that fold to false are left out, one that folds to true
 * ends it. */
enum { MR_CLAUSE_LITERALS = 8 };
typedef struct mr_clause {
    mr_literal literals[MR_CLAUSE_LITERALS];
    uint32_t count;
    bool holds;
} mr_clause;

/* Adds before(u, v) for two events that are included when the clause matters. */
void mr_clause_before(mr_encoding *encoding, mr_clause *clause, uint32_t u, uint32_t v);
/* Adds "event is not included"; false (left out, unless plain) when the event is required. */
void mr_clause_unless_included(mr_encoding *encoding, mr_clause *clause, uint32_t event);
void mr_clause_choice(mr_clause *clause, uint32_t choice, bool positive);
/* Adds the clause to the formula, unless it holds anyway. */
void mr_clause_end(mr_encoding *encoding, const mr_clause *clause);

#endif
