/*
 * search: what follows from assumptions in a formula, why, and what to learn when they fail.
 *
 * Literals (encoder/formula.h) are made true one after the other, each at a level, the number of
 * assumptions so far. An order literal is true when the closure says so, false when it says the
 * opposite; so a literal can be known without ever having been made true, and then its reason is a
 * path of edges that were (mr_closure_path). Level 0 holds without assumptions: it starts with the
 * formula's edges, and a conflict there is a proof that the formula has no solution.
 *
 * Propagation. A clause watches two of its literals that are not false; only when one of them
 * falls, as the closure's trail tells, the clause is looked at: another literal is watched, or the
 * last one is made true with the clause as its reason, or there is a conflict. A clause of which
 * less than two literals are open when it joins (it may do so at any level, and edges of the
 * formula that come later are clauses of one literal) is *late*: it is looked at again after each
 * return to a lower level, until two are.
 *
 * Conflicts. The assertions that made the literals of the clause false are found, and each of the
 * latest level with a reason is replaced by what its reason came from, until one is left (the first
 * unique implication point, as in GRASP and Chaff). The clause that not all of them hold is a
 * consequence of the clauses so far, is learned, and makes the opposite of the last one true at the
 * level of the second latest. The opposite of before(u, v) is before(v, u): a solution is a total
 * order.
 *
 * Clauses are taken from the formula when mr_search_take is called, and it may grow in between. A
 * consequence of some clauses is one of all, so nothing that was learned becomes wrong.
 *
 *   mr_search_init → (mr_search_take | mr_search_propagate | mr_search_assume | mr_search_resolve |
 *   mr_search_restart)* → mr_search_free
 */
#ifndef MR_SOLVER_SEARCH_H
#define MR_SOLVER_SEARCH_H

#include "closure.h"

typedef enum mr_truth {
    MR_OPEN,
    MR_TRUE,
    MR_FALSE,
} mr_truth;

typedef enum mr_search_result {
    MR_SEARCH_GOES_ON,
    MR_SEARCH_CONFLICT, /* mr_search.conflict is a clause whose literals are all false */
    MR_SEARCH_NO_MEMORY,
} mr_search_result;

typedef struct mr_search_clause {
    size_t first; /* in mr_search.literals; the watched ones come first */
    uint32_t count;
    bool learned;
    uint32_t used; /* number of the latest conflict that it had a part in; 0: none */
} mr_search_clause;

/* Something that was made true. */
typedef struct mr_assertion {
    mr_literal literal;
    uint32_t reason; /* clause; MR_NONE: an assumption */
    uint32_t level;
    size_t edge_count; /* of the closure, before it */
} mr_assertion;

typedef struct mr_level {
    size_t assertions, closure_mark; /* when it began */
} mr_level;

typedef struct mr_search {
    const mr_formula *formula;
    mr_closure closure;
    uint8_t *choices;          /* owned; an mr_truth each */
    uint32_t *choice_asserted; /* owned; by which assertion */
    size_t choice_capacity, choice_asserted_capacity;
    uint32_t choice_count;

    mr_literal *literals; /* owned; of all clauses */
    size_t literal_count, literal_capacity;
    mr_search_clause *clauses; /* owned */
    size_t clause_count, clause_capacity;
    size_t taken_clauses, taken_edges; /* of the formula */
    size_t learned_count;

    /* Watches: lists of 2 * clause + (0, 1: which of its first two literals). */
    uint32_t *cell_watch; /* one an entry of closure.successors: before(u, v), for v and the chain
                             of u, which falls when v reaches u */
    mr_u32s choice_watch; /* two a choice: literals that fall when it is false, true */
    mr_u32s watch_next;   /* two a clause */
    mr_u32s watch_rank;   /* two a clause: the rank of u */
    mr_u32s late;         /* clauses; the first `late_looked` have been looked at */
    size_t late_looked;

    mr_assertion *trail; /* owned */
    size_t trail_count, trail_capacity;
    mr_u32s edge_asserted; /* for each edge of the closure beyond the first ones, by which */
    size_t first_edges;
    size_t closure_looked, trail_looked; /* how far propagation has come */
    mr_level *levels;                    /* owned; level i + 1 began as levels[i] says */
    size_t level_count, level_capacity;

    uint32_t conflict;
    uint32_t conflicts; /* how many there were */
    uint8_t *seen;      /* owned; one an assertion */
    size_t seen_capacity;
    mr_u32s marked, path; /* assertions that are seen; scratch */
    mr_literal *lesson;   /* owned; scratch */
    size_t lesson_capacity;
    uint64_t effort; /* literals, watches and clauses looked at; closure.effort comes on top */
} mr_search;

/* The search of an encoding's formula at level 0, nothing taken or propagated but its edges.
 * MR_SEARCH_CONFLICT: they contradict each other. Fixed memory of `arena`; free with
 * mr_search_free, whatever the result. */
mr_search_result mr_search_init(mr_search *search, const mr_encoding *encoding, mr_arena *arena);
void mr_search_free(mr_search *search);

/* Takes over what the formula has gained. False: no memory. */
bool mr_search_take(mr_search *search);

/* All that follows from what is true. */
mr_search_result mr_search_propagate(mr_search *search);

/* Makes an open literal true, as an assumption, with all that follows. */
mr_search_result mr_search_assume(mr_search *search, mr_literal literal);

/* After MR_SEARCH_CONFLICT: learns from it, goes back, and propagates. MR_SEARCH_CONFLICT: there is
 * another one, or, with `*refuted`, the conflict needs no assumption and the formula has no
 * solution. */
mr_search_result mr_search_resolve(mr_search *search, bool *refuted);

/* Goes back to level 0, and forgets the longest of the learned clauses but `keep`. */
mr_search_result mr_search_restart(mr_search *search, size_t keep);

mr_truth mr_search_truth(const mr_search *search, mr_literal literal);

#endif
