/*
 * locks: docs/semantics.md 2.2, exclusive and shared (outermost acquires and releases).
 *
 *   for each lock and each two of its critical sections (acq1, rel1), (acq2, rel2) by different
 *   threads, not both shared, with both acquires in C:
 *
 *     not included(acq1)  or  not included(acq2)  or  before(rel1, acq2)  or  before(rel2, acq1)
 *
 * A release outside C has no literal: its section stays open at the end of rho, so the other one
 * must come first. before(rel1, acq2) with acq2 included makes rel1 included. A lock held when the
 * window starts is a section whose acquire is before everything: before(rel2, acq1) has no literal.
 *
 * Where precedence says that rel1 is before acq2 in every reordering, the clause is before(rel1,
 * acq2) (guarded by acq2), and for the latest such section of a thread and kind only: those before
 * it follow by program order. (A shared section of a thread may enclose an exclusive one of the
 * same lock, and end after it; two of one kind never overlap.) It may not be folded away:
 * precedence has it from this very rule. If rel1 is not in C there, then it needs a or b, and what
 * is left of the clause is that acq2 is not included.
 */
#ifndef MR_ENCODER_LOCKS_H
#define MR_ENCODER_LOCKS_H

#include "encoding.h"

void mr_encode_locks(mr_encoding *encoding);

/* The clause of one pair (numbers in window->sections) that exclude each other, with both acquires
 * in C; for lazy.h, which asks for no pair twice. */
void mr_encode_exclusion(mr_encoding *encoding, uint32_t one, uint32_t other);

#endif
