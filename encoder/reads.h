/*
 * reads: docs/semantics.md 2.6.
 *
 * Reads are r, ar, au; writes are w, aw, au. Let W(x) be the writes of x in C, without r itself
 * when it is an update: the write that it sees, and what stands between the two, is about its
 * instant as a read, and nothing can stand inside it. For a read r of x in C that is treated by
 * source and saw the write s of the window:
 *
 *     guard(r)  or  before(s, r)            (models rf and value: C is closed under FORCED and has
 * s) guard(r)  or  clean(s) for each w in W(x), w != s: guard(r)  or  before(w, s)  or  before(r,
 * w)
 *
 * and when it saw an earlier write or none:
 *
 *     for each w in W(x):   guard(r)  or  before(r, w)
 *
 * For a read treated by value v, with S the writes of W(x) with value v that are possible for it
 * (windows/read_choices.h), and one free boolean c(s) for each s in S, and c(carried) when the
 * carried value is possible:
 *
 *     guard(r)  or  c(carried)  or  OR over s in S of c(s)
 *     c(s) implies before(s, r)  and  clean(s)
 *     for each w in W(x), w != s:
 *         not c(s)  or  before(w, s)  or  before(r, w)  or  (clean(w), if w has the value v)
 *         not c(carried)  or  before(r, w)  or  (clean(w), if w has the value v)
 *
 * guard(r) and clean(w) are those of branches.h. In the models rf and value they are "not
 * included(r)" and true: the lines with clean fall away. A source outside C (in model branch, or
 * where precedence is HARD) leaves guard(r) alone; in model branch reads that are not constrained
 * have no clauses.
 *
 * Writes of the same value need not be kept away, when they are clean: if every other value is
 * before s or after r, then the last write before r is s or has the value v as well. Not guarding w
 * is no loss: a write that is not included stands after CUT, so after r.
 */
#ifndef MR_ENCODER_READS_H
#define MR_ENCODER_READS_H

#include "encoding.h"

/* Lazily: only what a read by source asks of its source, one or two clauses a read. */
void mr_encode_reads(mr_encoding *encoding);

/* For lazy.h, one clause at a time. A source of MR_NONE is the carried value. */

/* What the choice asks of its source: the line "c(s) implies". */
void mr_encode_choice(mr_encoding *encoding, uint32_t choice, uint32_t read, uint32_t source);
/* The line "for each w": `write` is in C and neither read nor source. `choice` MR_NONE: the read is
 * treated by source. */
void mr_encode_interference(mr_encoding *encoding, uint32_t choice, uint32_t read, uint32_t source,
                            uint32_t write);

#endif
