/*
 * locks: docs/semantics.md 2.2, exclusive and shared (outermost acquires and releases).
 *
 * For each lock and each two of its sections (acq1, rel1), (acq2, rel2) by different threads, not
 * both shared, with both acquires in C:
 *
 *     not included(acq1)  or  not included(acq2)  or  before(rel1, acq2)  or  before(rel2, acq1)
 *
 * A release outside C has no literal: its section stays open at the end of rho, so the other one
 * must come first. before(rel1, acq2) with acq2 included makes rel1 included. The acquire of a
 * section that is held when the window starts is before everything: not included(acq1) and
 * before(rel2, acq1) have no literal.
 *
 * Forced pairs. Where FORCED has rel1 before acq2, the clause is instead
 *
 *     not included(acq2)  or  before(rel1, acq2)      rel1 in C; not folded, since precedence may
 *                                                     have it from this very rule
 *     not included(acq2)                              rel1 not in C: then it needs a or b
 *     no clause                                       HARD has rel1 before acq2: fork_join.h,
 *                                                     barrier_pairs.h and program_order.h say so
 *
 * It is stated only for the latest such section of each thread and kind: the sections before it are
 * left before it is entered. (A shared section of a thread may enclose an exclusive one of the same
 * lock, and end after it; two of one kind never overlap.)
 */
#ifndef MR_ENCODER_LOCKS_H
#define MR_ENCODER_LOCKS_H

#include "encoding.h"

/* Is the section one that the formula is about? With a region: one that is entered there (lazy.h). */
bool mr_section_takes_part(const mr_encoding *encoding, const mr_section *section);

void mr_encode_locks(mr_encoding *encoding);

/* The clause of one pair (numbers in window->sections) that exclude each other, with both acquires
 * in C; for lazy.h, which asks for no pair twice. */
void mr_encode_exclusion(mr_encoding *encoding, uint32_t one, uint32_t other);

#endif
