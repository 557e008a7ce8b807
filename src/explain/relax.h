/*
 * relax: a trace with one of its constraints taken away, to find out what keeps two accesses apart.
 * What a relaxed trace says is never reported as a race.
 */
#ifndef MR_EXPLAIN_RELAX_H
#define MR_EXPLAIN_RELAX_H

#include "trace/trace.h"

typedef enum mr_relaxed {
    MR_RELAXED_READS,      /* of a variable: they may see anything */
    MR_RELAXED_LOCK,       /* acquires and releases of a lock */
    MR_RELAXED_SEMAPHORES, /* posts and waits of a semaphore */
    MR_RELAXED_CALLS,      /* the calls that were not recorded; all of them */
} mr_relaxed;

/* A view of a trace; the columns op, operand, value and link are its own, the rest is on loan. */
typedef struct mr_relaxed_trace {
    mr_trace trace;
    uint8_t *op;
    uint32_t *operand, *value, *link;
} mr_relaxed_trace;

/*
 * Takes the constraints of this kind away: those of the variable or lock `name`, or of all of them
 * (MR_NONE). Events `first` and `second` stay as they are. Each event that goes becomes a fence,
 * about which rules 1 to 7 of docs/semantics.md 2 say nothing; an atomic update becomes a write.
 * To be freed in either case; false: no memory. O(events).
 */
bool mr_relax(mr_relaxed_trace *relaxed, const mr_trace *trace, mr_relaxed kind, uint32_t name,
              uint32_t first, uint32_t second);
void mr_relaxed_free(mr_relaxed_trace *relaxed);

#endif
