/*
 * pack: a witness in a few bytes, for results with very many.
 *
 * By rule 1 of docs/semantics.md 2 the events of a thread in a witness are its first ones from
 * window_start on. So it is enough to say which thread runs how far: a list of (thread, number of
 * events), after the number of all events, as base/bytes.h has it. A witness that
 * the minimiser has given long runs to takes a tenth of a byte to a byte an event, instead of four.
 */
#ifndef MR_WITNESS_PACK_H
#define MR_WITNESS_PACK_H

#include "witness.h"

/* Replaces the events of a witness that respects program order by their packed form. False: no
 * memory; nothing has changed. O(events). */
bool mr_witness_pack(const mr_trace *trace, mr_witness *witness);

/* May a packed form that comes from a file be opened: does it name threads of the trace only, and
 * as many events as the witness has? The rest is for the checker. */
bool mr_witness_packed_is_valid(const mr_trace *trace, const mr_witness *witness);

/*
 * The witness with its events: itself, or, when it is packed, `*room` with a copy that has them.
 * Free `*room` with mr_witness_free in either case. NULL: no memory. O(events of the trace from
 * window_start to the last one that is in the witness, threads).
 */
const mr_witness *mr_witness_open(const mr_trace *trace, const mr_witness *witness,
                                  mr_witness *room);

#endif
