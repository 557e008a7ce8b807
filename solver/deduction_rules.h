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

/*
 * Does the rule say nothing of the read, now and ever? Without a question that is so when the write s that it saw
 * is in B(r), or in its thread, and when it saw none. The trace is a reordering of the window, so s is in P(r),
 * and (b) joins no more than B(s) + s, which B(r) contains by the first rule; if there is no s, "none" is possible,
 * and (b) says nothing. (a) and (c) to (e) say nothing without a question. False when there is a question.
 */
bool mr_deduction_is_settled(const mr_deduction *deduction, uint32_t row);

/* Lists P(r) for each consistent read of a variable by value, in `known`. False: no memory. */
bool mr_deduction_list_sources(mr_deduction *deduction);

#endif
