/*
 * excluded_calls: finds the calls that stand in the place of taken events, and what they reach
 * (exclude.h). An *element* is a variable, a lock, a semaphore or a thread, as one number:
 * variables first, then locks and semaphores, then threads.
 */
#ifndef MR_EXCLUDE_EXCLUDED_CALLS_H
#define MR_EXCLUDE_EXCLUDED_CALLS_H

#include "exclude.h"

typedef struct mr_excluded_call {
    uint32_t first, last;   /* its first and its last taken event */
    uint32_t start, length; /* its elements: elements[start], …, in rising order */
} mr_excluded_call;

/* Zero-initialise; free with mr_excluded_calls_free. */
typedef struct mr_excluded_calls {
    mr_excluded_call *items; /* in the order in which they end */
    size_t count, capacity;
    mr_u32s elements;
    uint32_t *call_of; /* by event: its call; MR_NONE: the event is not taken */
} mr_excluded_calls;

/* False: no memory. */
bool mr_excluded_calls_find(const mr_trace *trace, const mr_exclude_options *options,
                            const bool *taken, mr_excluded_calls *calls);
void mr_excluded_calls_free(mr_excluded_calls *calls);

/* The name of an element. */
const mr_name *mr_excluded_element_name(const mr_trace *trace, uint32_t element);

#endif
