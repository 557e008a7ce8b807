/*
 * branches: docs/semantics.md 2.6, model branch.
 *
 * A read that is not consistent makes its thread diverge: no later branch, fork or mbegin of the
 * thread is included, and no consistent read sees what it writes from then on.
 *
 * Which reads matter. A read of C is constrained only when some event after it in its thread, the
 * read itself included, asks for consistency: a branch, fork or mbegin of C, or a write of C that a
 * constrained read may see (read_choices.h; by source: that it saw). The least such set of reads is
 * a prefix of each thread; the reads after it are free.
 *
 * Blocks. The events of a thread are cut after each branch, fork or mbegin and each write to a
 * shared variable; between two cuts all reads are asked for together, so the free boolean clean(B)
 * of a block B stands for "the constrained reads of B, and of the blocks before it in its thread,
 * are included and consistent". For an event e of C let clean(e) be
 *
 *     true        there is no read before e and it is none, or a required branch, fork or mbegin of
 *                 its thread stands after it or is it
 *     false       a read that is not constrained is before e or is it
 *     clean(B)    else, B being the last block with a read that is before e or is it
 *
 * An update (au) that diverges writes an unknown value, so clean(au) includes its own read. Then
 *
 *     for consecutive blocks A, B of a thread:      not clean(B)  or  clean(A)
 *     for each branch, fork, mbegin e of C:         not included(e)  or  clean(e)
 *
 * and reads.h says what clean(r) means for a read r, and asks for clean(s) of the write s that r
 * sees. The reads of a block that holds are included: what asks for clean(B) is included and after
 * them.
 *
 * In the other models every read of C is constrained and nothing diverges: clean(e) is true, and
 * the guard of a read is its inclusion.
 */
#ifndef MR_ENCODER_BRANCHES_H
#define MR_ENCODER_BRANCHES_H

#include "encoding.h"

/* Fills encoding->constrained, and clean(e) for every event of C. Before any of the following.
 * False: no memory of `arena`. Model branch: O(events of C + reads · choices). */
bool mr_branches_prepare(mr_encoding *encoding, mr_arena *arena);

/* The clauses above. */
void mr_encode_branches(mr_encoding *encoding);

/* Is the read of C constrained? */
bool mr_read_is_constrained(const mr_encoding *encoding, uint32_t read);

/* Adds the guard of a constrained read: "read is not included", model branch: not clean(read). */
void mr_clause_unless_consistent(mr_encoding *encoding, mr_clause *clause, uint32_t read);

/* Is clean(event) simply true? */
bool mr_is_certainly_clean(const mr_encoding *encoding, uint32_t event);

/* Adds clean(event). */
void mr_clause_clean(mr_encoding *encoding, mr_clause *clause, uint32_t event);

#endif
