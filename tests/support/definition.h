/*
 * definition: docs/semantics.md 2 and 3 word by word, as a judge of the judges. Every rule looks at
 * the whole sequence again; nothing is kept from one event to the next. O(n³) for a sequence of n
 * events.
 */
#ifndef MR_TESTS_SUPPORT_DEFINITION_H
#define MR_TESTS_SUPPORT_DEFINITION_H

#include "witness/witness.h"

/* Is e0 … e(window_start-1), then the listed events, a reordering that stays in the window? */
bool mr_definition_reordering(const mr_trace *trace, const mr_witness *witness);

/* Is the witness one of a race? */
bool mr_definition_accepts(const mr_trace *trace, const mr_witness *witness);

#endif
