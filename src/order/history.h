/*
 * history: the accesses so far that can still race with a later one, for exact race pairs.
 *
 * For each contended variable, thread, kind of access and location it keeps the latest access only:
 * it has the greatest local time, so when it is ordered before something, so are the earlier ones;
 * and it is the latest possible `first` of a pair. The entries of one variable, thread and kind
 * form a list, latest first; going through it stops at the first entry that is ordered before the
 * new access, because all that follow are too.
 *
 * Accesses that race again and again would make long lists a cost each time. What bounds it:
 *   - an entry that was there when the same thread was last at the same location with the same kind
 * of access need not be looked at again: it was reported then, or is ordered now (a thread's clock
 * only grows);
 *   - a run of accesses by one thread has no news for a location that it has been at in the run.
 *
 * Space: one entry for each variable, thread, kind and location that occur together.
 */
#ifndef MR_ORDER_HISTORY_H
#define MR_ORDER_HISTORY_H

#include "clock.h"
#include "map.h"
#include "trace/trace.h"

typedef struct mr_past_access {
    uint32_t event, local, location;
    uint32_t newer, older; /* in the list of its variable, thread and kind; MR_NONE: end */
} mr_past_access;

typedef struct mr_accessor {
    uint32_t thread;
    uint32_t next;    /* next accessor of the same variable, MR_NONE: last */
    uint32_t last[2]; /* by kind (0 read, 1 write): its latest access, MR_NONE: none */
} mr_accessor;

typedef struct mr_history {
    const mr_trace *trace; /* borrowed */
    mr_accessor *accessors;
    size_t accessor_count, accessor_capacity;
    mr_past_access *accesses;
    size_t access_count, access_capacity;
    mr_map accessor_numbers;  /* (variable, thread) */
    mr_map access_numbers;    /* (accessor * 2 + kind, location) */
    uint32_t *first_accessor; /* by variable */
    uint32_t *run_thread,
        *run_start; /* by variable: who accessed it last, from which event on alone */
} mr_history;

/* Called for each earlier access that races with the new one and may be news; false stops. */
typedef bool mr_history_visit(void *context, uint32_t first, uint32_t second);

/* False: no memory (mr_history_free is still fine). */
bool mr_history_init(mr_history *history, const mr_trace *trace);
void mr_history_free(mr_history *history);

/*
 * Visits the conflicting accesses that are not before `clock`, which is what the thread knew before
 * the event, then notes the event with its local time. False: no memory, or the visitor said so.
 */
bool mr_history_add(mr_history *history, uint32_t event, const mr_clock *clock, uint32_t local,
                    mr_history_visit *visit, void *context);

#endif
