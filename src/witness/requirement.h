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
    /* event - `from`: the last write before a r, ar or au in the trace, or MR_NONE; others: unused; in `memory`, or of one
     * window */
    uint32_t *source;
    uint32_t from;
    mr_spill memory;
    mr_variable_rule *rules; /* variable; NULL by windows: for model rf alone */
    size_t source_room;
    uint32_t *written; /* variable: a write in the window + 1, 0: none */
} mr_requirements;

/* The value that an access with a value read or wrote; an atomic update has both. */
int64_t mr_requirement_read(const mr_trace *trace, uint32_t event);
int64_t mr_requirement_written(const mr_trace *trace, uint32_t event);

/* O(events). False: no memory; nothing is kept then. */
bool mr_requirements_init(mr_requirements *requirements, const mr_trace *trace);
/* By windows: in model rf, for one window after the other. O(names). */
bool mr_requirements_init_by_window(mr_requirements *requirements, const mr_trace *trace);
/* `before`: the last write of a variable before the window, or MR_NONE. O(events of the window). False: no memory. */
bool mr_requirements_open(mr_requirements *requirements, const mr_trace *trace, uint32_t start,
                          uint32_t end, uint32_t (*before)(const void *context, uint32_t variable),
                          const void *context);
void mr_requirements_free(mr_requirements *requirements);

#endif
