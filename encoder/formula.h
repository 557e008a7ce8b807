/*
 * formula: clauses over the order of events.
 *
 * A formula has nodes 0 … node_count-1, to be placed on a line, and free booleans. A literal is
 *
 *     before(u, v)     node u stands strictly before node v
 *     choice(c), not choice(c)
 *
 * and a formula is a conjunction of edges before(u, v) and of clauses (disjunctions of literals).
 * Order literals occur only positively ("not before(u, v)" is written before(v, u)), so whatever
 * satisfies the formula is given by an acyclic set of true order literals, and any topological
 * order of it is a solution. A solver for it needs to know nothing of traces.
 *
 *   mr_formula_init → (mr_formula_edge | mr_formula_clause …)* → solve → mr_formula_free
 */
#ifndef MR_ENCODER_FORMULA_H
#define MR_ENCODER_FORMULA_H

#include "base/memory.h"
#include "base/model.h"

#include <stdbool.h>

typedef struct mr_literal {
    uint32_t u, v; /* before(u, v); or, for a choice, its number and MR_CHOICE / MR_NOT_CHOICE */
} mr_literal;

#define MR_CHOICE     UINT32_MAX
#define MR_NOT_CHOICE (UINT32_MAX - 1)

static inline mr_literal mr_before(uint32_t u, uint32_t v)
{
    return (mr_literal){u, v};
}

static inline mr_literal mr_choice(uint32_t choice, bool positive)
{
    return (mr_literal){choice, positive ? MR_CHOICE : MR_NOT_CHOICE};
}

static inline bool mr_is_choice(mr_literal literal)
{
    return literal.v >= MR_NOT_CHOICE;
}

typedef struct mr_formula {
    uint32_t node_count, choice_count;
    mr_literal *literals; /* all clauses, one after the other */
    size_t literal_count, literal_capacity;
    uint32_t *clause_ends; /* clause k is literals[clause_ends[k-1] … clause_ends[k]) */
    size_t clause_count, clause_capacity;
    mr_literal *edges;
    size_t edge_count, edge_capacity;
    size_t max_clauses; /* edges and clauses together; 0: no limit */
    uint64_t max_bytes; /* that they may take; 0: no limit */
    size_t attempts;    /* clauses that were looked at, those that hold anyway included */
    bool contradiction; /* an empty clause was added: nothing satisfies it */
    bool too_large;     /* a limit was reached: the formula is not complete */
    bool by_bytes;      /* it was max_bytes */
    bool out_of_memory; /* the same for memory */
} mr_formula;

void mr_formula_init(mr_formula *formula, size_t max_clauses, uint64_t max_bytes);
void mr_formula_free(mr_formula *formula);

/* Is there no use in adding more? (contradiction, too_large or out_of_memory) */
bool mr_formula_stopped(const mr_formula *formula);

/* Why a question about the formula has no answer: MR_UNKNOWN_MEMORY or SIZE when it is too large, else STEPS. */
mr_unknown_reason mr_formula_reason(const mr_formula *formula);

/* Counts a clause that was looked at and holds anyway. Sixteen such clauses count as one that is
 * kept when max_clauses is compared. */
void mr_formula_skip(mr_formula *formula);

void mr_formula_edge(mr_formula *formula, uint32_t u, uint32_t v);
/* A clause of `count` literals; none: a contradiction; one order literal: an edge. */
void mr_formula_clause(mr_formula *formula, const mr_literal *literals, size_t count);

/* Is `order` (one position a node) with `choices` (one a choice; may be NULL when there are none) a
 * solution? */
bool mr_formula_holds(const mr_formula *formula, const int64_t *order, const bool *choices);

#endif
