/*
 * search_parts: what the files of the search (search.h) share: search.c propagates and keeps the
 * clauses, conflict.c learns.
 */
#ifndef MR_SOLVER_SEARCH_PARTS_H
#define MR_SOLVER_SEARCH_PARTS_H

#include "search.h"

/* Makes an open literal true at the present level; `reason`: a clause whose other literals are
 * false, MR_NONE: an assumption. False: no memory. */
bool mr_search_make_true(mr_search *search, mr_literal literal, uint32_t reason);

/* Goes back to a level: what was made true later is open again. */
void mr_search_go_back(mr_search *search, size_t level);

/* Adds a clause, not yet watched. False: no memory. */
bool mr_search_add_clause(mr_search *search, const mr_literal *literals, size_t count,
                          bool learned);

/* Watches one of the first two literals of a clause. */
void mr_search_watch(mr_search *search, uint32_t clause, uint32_t side);

#endif
