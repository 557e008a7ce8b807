/*
 * branches: docs/semantics.md 2.6, model branch.
 *
 * A read that is not consistent makes its thread diverge: no later branch, fork or mbegin of the
 * thread is included, and no consistent read sees what the thread writes from then on. Here a
 * *read* is a read of a shared variable (mr_window_variable.shared), and a *binder* is a branch, a
 * fork or an mbegin.
 *
 * Constrained reads. A read of C is constrained when some event of C needs it to be consistent: a
 * binder of C after it in its thread, or a write of C that a constrained read may see and that
 * stands after it in its thread, or is the read itself (an update). Which writes a read may see is
 * told by windows/read_choices.h, or by the read's source when the variable is treated by source.
 * The constrained reads are the least such set. They are a prefix of each thread; the reads after
 * them are free.
 *
 * Blocks. The events of a thread are cut after each binder and after each write to a shared
 * variable. All reads between two cuts are asked for together. So the free boolean clean(B) of a
 * block B stands for "the constrained reads of B, and of the blocks before it in its thread, are
 * included and consistent". For an event e of C
 *
 *     clean(e) = true        every read that is e or stands before e in its thread stands before a
 *                            required binder of the thread
 *     clean(e) = false       else, when a read that is e or stands before e is not constrained
 *     clean(e) = clean(B)    else; B is the last block with a read that is e or stands before e
 *
 * An update that diverges writes an unknown value, so clean(au) includes the update's own read.
 * Then
 *
 *     not clean(B)     or  clean(A)      consecutive blocks A, B of a thread that have a boolean
 *     not included(e)  or  clean(e)      each binder e of C with clean(e) = clean(B); of several
 *                                        with the same B the first, since it is before the others
 *
 * reads.h says what clean(r) means for a read r, and asks for clean(s) of the write s that r sees.
 * The reads of a block that holds are included: whatever asks for clean(B) is included and stands
 * after them.
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

/* Is the event of C a read that is constrained? */
bool mr_is_constrained_read(const mr_encoding *encoding, uint32_t event);

/* Adds the guard of a constrained read: "read is not included", model branch: not clean(read). */
void mr_clause_unless_consistent(mr_encoding *encoding, mr_clause *clause, uint32_t read);

/* Is clean(event) simply true? */
bool mr_is_certainly_clean(const mr_encoding *encoding, uint32_t event);

/* Adds clean(event). */
void mr_clause_clean(mr_encoding *encoding, mr_clause *clause, uint32_t event);

#endif
