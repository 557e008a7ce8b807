/*
 * witness: the evidence for a race: a reordering of recorded events after which the two accesses
 * are the next events of their threads (docs/semantics.md 3).
 *
 * Scope: the events before `window_start` happen as observed; then the listed events, which all lie
 * in [window_start, window_end); then `first` and `second`, in either order.
 */
#ifndef MR_WITNESS_WITNESS_H
#define MR_WITNESS_WITNESS_H

#include "base/model.h"
#include "trace/trace.h"

typedef struct mr_witness {
    uint32_t first, second; /* the racing accesses, first before second in the trace */
    uint32_t window_start, window_end;
    mr_model model;
    uint32_t *events; /* owned; event numbers in the order in which they happen */
    uint32_t event_count;
    uint8_t *packed; /* owned; then `events` is NULL (pack.h). NULL: not packed */
    size_t packed_bytes;
} mr_witness;

void mr_witness_free(mr_witness *witness); /* frees what it holds, not the struct */

#endif
