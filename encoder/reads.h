/*
 * reads: docs/semantics.md 2.6.
 *
 * Reads are r, ar, au; writes are w, aw, au. Let W(x) be the writes of x in C. When the read r is
 * an update, W(x) is without r itself: the write that r sees, and what stands between the two, is
 * about r's instant as a read, and nothing can stand inside it.
 *
 * A read r of x in C that is treated by source and saw the write s of the window:
 *
 *     guard(r)  or  before(s, r)                         s of another thread than r; not folded
 *     guard(r)  or  clean(s)                             s of another thread than r
 *     guard(r)  or  before(w, s)  or  before(r, w)       each w in W(x), w != s
 *
 * but, when s is not in C (in model branch, or where precedence is HARD):
 *
 *     guard(r)
 *
 * and, when r saw an earlier write than those of the window, or none:
 *
 *     guard(r)  or  before(r, w)                         each w in W(x)
 *
 * A read r treated by value v: let S be the writes of W(x) with value v that r may see, by
 * windows/read_choices.h, or those of them that elimination has left (known.h). There is one free
 * boolean c(s) for each s in S, and c(carried) when r may see the carried value:
 *
 *     guard(r)        or  c(carried)  or  OR over s in S of c(s)
 *     not c(s)        or  before(s, r)                       s in S of another thread; not folded
 *     not c(s)        or  clean(s)                           s in S of another thread
 *     not c(s)        or  before(w, s)  or  before(r, w)     s in S, w in W(x), w != s,
 *                                                            w has another value than v
 *     not c(s)        or  before(w, s)  or  before(r, w)  or  clean(w)
 *                                                            likewise, w has the value v and is of
 *                                                            another thread than r
 *     not c(carried)  or  before(r, w)                       w in W(x) has another value than v
 *     not c(carried)  or  before(r, w)  or  clean(w)         w in W(x) has the value v and is of
 *                                                            another thread than r
 *
 * guard(r) is "not clean(r)", and clean(w) is as branches.h says. In the models rf and value
 * guard(r) is "not included(r)" and clean(w) is true, so the lines with clean(s) or clean(w) hold.
 * In model branch reads that are not constrained have no clauses.
 *
 * Why the own thread has no line. A write of r's thread before r is as clean as r is, and program
 * order has it before r. (Plain: its line before(s, r) is there all the same.)
 *
 * Why writes of the value v need not be kept away when they are clean. If every write of another
 * value is before s or after r, then the last write before r is s or has the value v as well. Not
 * guarding w is no loss: a write that is not included stands after CUT, so after r.
 */
#ifndef MR_ENCODER_READS_H
#define MR_ENCODER_READS_H

#include "encoding.h"

/* Lazily: only what a read by source asks of its source, one or two clauses a read. */
void mr_encode_reads(mr_encoding *encoding);

/* For lazy.h, one clause at a time. A source of MR_NONE is the carried value. */

/* What the choice asks of its source: the lines with before(s, r) and clean(s). */
void mr_encode_choice(mr_encoding *encoding, uint32_t choice, uint32_t read, uint32_t source);
/* The line of w = `write`, which is in C and neither read nor source. `choice` MR_NONE: the read is
 * treated by source. */
void mr_encode_interference(mr_encoding *encoding, uint32_t choice, uint32_t read, uint32_t source,
                            uint32_t write);

#endif
