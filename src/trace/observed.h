/*
 * observed: errors that happened in the recorded execution itself, so that no reordering is needed
 * to show them: uses of memory after its free, and misuse (misuse.h).
 *
 * Those of one kind with the same two places are one; the first stands for all. O(events), when the
 * trace has a free; memory O(errors).
 */
#ifndef MR_TRACE_OBSERVED_H
#define MR_TRACE_OBSERVED_H

#include "trace.h"

typedef struct mr_observed {
    mr_misuse_kind kind;
    uint32_t event; /* the use */
    uint32_t other; /* the free, the destruction, or the acquire of who holds it; MR_NONE: none */
    uint64_t count; /* how often, in these places */
} mr_observed;

typedef struct mr_observed_list {
    mr_observed *items; /* owned; in the order of the trace */
    size_t count, capacity;
} mr_observed_list;

/* False: no memory. The caller calls mr_observed_free in either case. */
bool mr_observed_find(mr_observed_list *list, const mr_trace *trace);
void mr_observed_free(mr_observed_list *list);
/* Is there any? True also when memory ran out: then nobody knows. */
bool mr_observed_any(const mr_trace *trace);

/* The object of an access, or of an alloc or a free; MR_NONE: none. */
uint32_t mr_observed_object(const mr_trace *trace, uint32_t event);

#endif
