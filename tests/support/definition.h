/*
 * definition: docs/semantics.md 2, 3 and 4 word by word, as a judge of the judges. Every rule looks
 * at the whole sequence again; nothing is kept from one event to the next. O(n⁴) for a sequence of
 * n events, and in the model branch exponential in the reads whose writers have read, and so on.
 */
#ifndef MR_TESTS_SUPPORT_DEFINITION_H
#define MR_TESTS_SUPPORT_DEFINITION_H

#include "opaque/barrier_pairs.h"
#include "witness/witness.h"

/* Is e0 … e(window_start-1), then the listed events, a reordering that stays in the window? */
bool mr_definition_reordering(const mr_trace *trace, const mr_witness *witness, mr_opaque opaque);

/* Is the witness one of a race? */
bool mr_definition_accepts(const mr_trace *trace, const mr_witness *witness, mr_opaque opaque);

#endif
