/*
 * program_order: docs/semantics.md 2.1, restricted to the nodes.
 *
 *   for consecutive nodes e, f of a thread:   before(e, f)
 *
 * Together with CUT this makes the included events of a thread a prefix of its nodes.
 */
#ifndef MR_ENCODER_PROGRAM_ORDER_H
#define MR_ENCODER_PROGRAM_ORDER_H

#include "encoding.h"

void mr_encode_program_order(mr_encoding *encoding); /* after all nodes are made */

#endif
