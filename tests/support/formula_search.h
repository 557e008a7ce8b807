/*
 * formula_search: is a formula satisfiable? By trying every order of its nodes and every choice, so
 * for tiny formulas only. Shares nothing with the solver.
 */
#ifndef MR_TESTS_SUPPORT_FORMULA_SEARCH_H
#define MR_TESTS_SUPPORT_FORMULA_SEARCH_H

#include "encoder/formula.h"

enum { MR_SEARCH_NODES = 9, MR_SEARCH_CHOICES = 8 };

/* Is it small enough to be tried? */
bool mr_formula_searchable(const mr_formula *formula);

/* Fills `order` (one a node) with a solution when there is one. */
bool mr_formula_search(const mr_formula *formula, int64_t order[MR_SEARCH_NODES]);

#endif
