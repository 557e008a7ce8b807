/*
 * smtlib: a formula as text in SMT-LIB 2.6, logic QF_IDL, for Z3's own command and other solvers.
 *
 *   node u         (declare-fun n<u> () Int)
 *   choice c       (declare-fun c<c> () Bool)
 *   before(u, v)   (< n<u> n<v>)
 *   edge           (assert (< n<u> n<v>))
 *   clause         (assert (or literal …)); the empty clause: (assert false)
 *
 * The text is satisfiable exactly when the formula is (formula.h): order literals occur only
 * positively, so two nodes at one place of the line can be told apart afterwards.
 */
#ifndef MR_ENCODER_SMTLIB_H
#define MR_ENCODER_SMTLIB_H

#include "formula.h"

#include <stdio.h>

/* Writes the formula and (check-sat). `describe` writes a comment for a node, without the line's
 * end; NULL: no comments. False: the stream failed. */
bool mr_formula_write_smtlib(FILE *stream, const mr_formula *formula,
                             void (*describe)(FILE *stream, void *context, uint32_t node),
                             void *context);

#endif
