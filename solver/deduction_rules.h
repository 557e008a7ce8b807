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

/* What a rule says of a row later on, when more is known. */
typedef enum mr_rule_says {
    MR_RULE_MAY_SAY,
    MR_RULE_IS_SILENT, /* nothing new */
} mr_rule_says;

/*
 * The rules *reads* and *occupied*, for a read that may be consistent or not: nothing is asked of one that may be
 * inconsistent. O(threads + log rows) for each thread that uses the variable.
 *
 * Most reads are silent: the rule *reads* says nothing of them, now and ever, and a test finds that out in less time. Reads of
 * value locks are looked at for the other rule all the same.
 * Let s be the write that r saw in the trace. It is not hidden from r.
 *
 * Without a question: s is in B(r) or in its thread, or there is no s. The trace is a reordering of the window, so s
 * is in P(r), and (b) joins no more than B(s) + s, which B(r) contains by closure; if there is no s, "none" is
 * possible, and (b) says nothing. (a) and (c) to (e) say nothing without a question.
 *
 * With a question, in models rf and value, r of L:
 *   1. s is in B(r) or in its thread, and in C and not in E; or there is no s and r saw what is carried in.
 *   2. Everything foreign in B(r) is s or in B(s); if there is no s, nothing is.
 *   3. Everything foreign of another thread that is neither in B(r) nor in E has r in its B.
 * s stays in P(r), unless closure finds that there is no race: when s gets into E, so does r, which is in L. When
 * a foreign f of B(r) gets s into B(f), s is in B(s) by 2. When r gets into B(s), r is in B(r). When
 * another foreign f gets into B(r), it is in E, or r is in B(r), by 3; so 2 stays true. So (a) says nothing, nor does
 * (b), as above. (c) and (e): f is not in B(r), as s would be in B(f) then and not in P(r), so r is in B(f) by 3. (d):
 * f is in B(s) + s, and m is s or after s, in its thread. If there is no s, "none" is possible, and either (e) alone applies or
 * nothing. Where r is not in L, (a) and (b) alone apply, and 1 and 2 do as long as B(r) is what it is.
 *
 * `in_any_case`: applies the rule to silent reads, too, to test this.
 */
mr_rule_says mr_deduction_rule_read(mr_deduction *deduction, uint32_t row, bool in_any_case);

/* Lists P(r) for each consistent read of a variable by value, in `known`. False: no memory. */
bool mr_deduction_list_sources(mr_deduction *deduction);

#endif
