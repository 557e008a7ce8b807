/*
 * deduction_rules: the rules of elimination (eliminate.h) that are about locks and reads, for one
 * row at a time.
 *
 * Each looks at what is deduced so far and raises it (deduction.h). When to look at which row is
 * the matter of eliminate.c.
 */
#ifndef MR_SOLVER_DEDUCTION_RULES_H
#define MR_SOLVER_DEDUCTION_RULES_H

#include "deduction.h"

/* The rule *locks*, for an acquire. O(log rows) for each other thread that uses the lock. */
void mr_deduction_rule_acquire(mr_deduction *deduction, uint32_t row);

/* The rule *reads*, for a read that may be consistent or not: nothing is asked of one that may be
 * inconsistent. O(threads) for each thread that uses the variable. */
void mr_deduction_rule_read(mr_deduction *deduction, uint32_t row);

/* Lists P(r) for each consistent read of a variable by value, in `known`. False: no memory. */
bool mr_deduction_list_sources(mr_deduction *deduction);

#endif
