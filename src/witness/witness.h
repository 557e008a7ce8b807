/*
 * witness: the evidence for a race: a reordering of recorded events after which the two accesses
 * are the next events of their threads (docs/semantics.md 3).
 *
 * Scope: the events before `window_start` happen as observed; then the listed events, which all lie
 * in [window_start, window_end); then `first` and `second`, in either order.
 *
 * Of a memory-order race (docs/semantics.md 8) `first` is one of the listed events, and `second` is
 * next after them. It may be earlier in the trace than `first`.
 */
#ifndef MR_WITNESS_WITNESS_H
#define MR_WITNESS_WITNESS_H

#include "base/model.h"
#include "trace/trace.h"

typedef enum mr_witness_kind {
    MR_WITNESS_RACE,
    MR_WITNESS_MEMORY_ORDER, /* "memory-order" */
} mr_witness_kind;

typedef struct mr_witness {
    mr_witness_kind kind;
    uint32_t first, second; /* the racing accesses; of a race, first before second in the trace */
    uint32_t window_start, window_end;
    mr_model model;
    uint32_t *events; /* owned; event numbers in the order in which they happen */
    uint32_t event_count;
    uint8_t *packed; /* owned; then `events` is NULL (pack.h). NULL: not packed */
    size_t packed_bytes;
} mr_witness;

const char *mr_witness_kind_name(mr_witness_kind kind); /* "race" … */

void mr_witness_free(mr_witness *witness); /* frees what it holds, not the struct */

#endif
