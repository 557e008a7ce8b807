/*
 * witness: the evidence for a race: a reordering of recorded events after which the two accesses
 * are the next events of their threads (docs/semantics.md 3); and for other findings: a reordering that
 * ends in their goal (docs/semantics.md 7).
 *
 * Scope: the events before `window_start` happen as observed; then the listed events, which all lie
 * in [window_start, window_end); then `first` and `second`, in either order.
 *
 * Of a memory-order race (docs/semantics.md 8) `first` is one of the listed events, and `second` is
 * next after them. It may be earlier in the trace than `first`. Of the other kinds
 *
 *   use-after-free          first   the free, listed or observed before the window
 *                           second  the use, next
 *   deadlock                waits   the acquires, all next: the lock of waits[i] is held by the thread of
 *                                   waits[i + 1], that of the last one by the thread of waits[0], which
 *                                   is the earliest; first and second are waits[0] and waits[1]
 *   null, dangling,         first   the last write of the variable; MR_NONE: none (null only)
 *   double-free, sees       second  the read, next
 *   dangling, double-free   freed   the free of an object that contains the value
 */
#ifndef MR_WITNESS_WITNESS_H
#define MR_WITNESS_WITNESS_H

#include "base/model.h"
#include "trace/trace.h"

typedef enum mr_witness_kind {
    MR_WITNESS_RACE,
    MR_WITNESS_MEMORY_ORDER, /* "memory-order" */
    MR_WITNESS_USE_AFTER_FREE,
    MR_WITNESS_DEADLOCK,
    MR_WITNESS_NULL,
    MR_WITNESS_DANGLING,
    MR_WITNESS_DOUBLE_FREE,
    MR_WITNESS_SEES,
    MR_WITNESS_KINDS
} mr_witness_kind;

typedef struct mr_witness {
    mr_witness_kind kind;
    uint32_t first, second; /* the racing accesses; of a race, first before second in the trace */
    uint32_t freed;         /* dangling, double-free */
    uint32_t *waits;        /* deadlock; owned */
    uint32_t wait_count;
    uint32_t window_start, window_end;
    mr_model model;
    uint32_t *events; /* owned; event numbers in the order in which they happen */
    uint32_t event_count;
    uint8_t *packed; /* owned; then `events` is NULL (pack.h). NULL: not packed */
    size_t packed_bytes;
} mr_witness;

const char *mr_witness_kind_name(mr_witness_kind kind); /* "race" … */

/* The events that are next after the listed ones, and how many; `first` and `second` of a race. */
static inline const uint32_t *mr_witness_stops(const mr_witness *witness, uint32_t *count)
{
    switch (witness->kind) {
    case MR_WITNESS_RACE:
        *count = 2;
        return &witness->first; /* `second` follows it */
    case MR_WITNESS_DEADLOCK:
        *count = witness->wait_count;
        return witness->waits;
    case MR_WITNESS_MEMORY_ORDER:
    case MR_WITNESS_USE_AFTER_FREE:
    case MR_WITNESS_NULL:
    case MR_WITNESS_DANGLING:
    case MR_WITNESS_DOUBLE_FREE:
    case MR_WITNESS_SEES:
    case MR_WITNESS_KINDS:
        break;
    }
    *count = 1;
    return &witness->second;
}

void mr_witness_free(mr_witness *witness); /* frees what it holds, not the struct */

#endif
