/*
 * djit: the races of hb, fhb and shb with plain vector clocks, one for each event, and for each
 * variable the last access of each thread (DJIT+, Pozniansky and Schuster 2003). No epochs, no
 * shared local times, no skipping: what the library's versions are compared with on every event.
 * Shares nothing with src/order; does not use the trace's `link`.
 */
#ifndef MR_TESTS_SUPPORT_DJIT_H
#define MR_TESTS_SUPPORT_DJIT_H

#include "order/relation.h"
#include "trace/trace.h"

typedef struct mr_djit {
    const mr_trace *trace;
    mr_relation relation;
    uint32_t *number; /* by event: how many events its thread has, up to it */
    uint32_t *known;  /* by event, then thread: how many of the thread's events were known before */
    bool *racy;       /* by event: the second event of a race? */
} mr_djit;

/* Memory: events * threads; the trace must outlive it. */
void mr_djit_build(mr_djit *djit, const mr_trace *trace, mr_relation relation);
void mr_djit_free(mr_djit *djit);

/* Are first < second a race? (They need not conflict: then no.) */
bool mr_djit_race(const mr_djit *djit, uint32_t first, uint32_t second);

#endif
