/*
 * requirement: what each read of a trace must see (docs/semantics.md 2.6), computed from the raw
 * columns for the checker alone; it deliberately repeats what the reader derives into `link` and
 * `variable_info`.
 */
#ifndef MR_WITNESS_REQUIREMENT_H
#define MR_WITNESS_REQUIREMENT_H

#include "trace/trace.h"

typedef struct mr_variable_rule {
    /* Read as in model rf even in model value: an access has no value, or a read saw something
     * else than the last write wrote (before any write: than the first read saw). */
    bool by_source;
    bool initial_known; /* the first access is a read with a value */
    int64_t initial;    /* that value */
} mr_variable_rule;

typedef struct mr_requirements {
    /* event: the last write before a r, ar or au in the trace, or MR_NONE; others: unused */
    uint32_t *source; /* in `memory` */
    mr_spill memory;
    mr_variable_rule *rules; /* variable */
} mr_requirements;

/* The value that an access with a value read or wrote; an atomic update has both. */
int64_t mr_requirement_read(const mr_trace *trace, uint32_t event);
int64_t mr_requirement_written(const mr_trace *trace, uint32_t event);

/* O(events). False: no memory; nothing is kept then. */
bool mr_requirements_init(mr_requirements *requirements, const mr_trace *trace);
void mr_requirements_free(mr_requirements *requirements);

#endif
