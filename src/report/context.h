/*
 * context: the context of an access of a recorded program, for reports: the call stack, the locks
 * that the thread holds and where it took them, and where the thread was started. Only traces with
 * call stacks (.mrt files of `maxrace record`) have it; for other traces nothing is written.
 *
 *   mr_context_init(all events of interest) → mr_context_print | mr_context_put* → mr_context_free
 *
 * The locks are those that the thread holds in the trace. By program order it holds the same locks
 * at this event in every reordering. One pass over the events: O(events + locks held at the events
 * of interest).
 */
#ifndef MR_REPORT_CONTEXT_H
#define MR_REPORT_CONTEXT_H

#include "json_object.h"
#include "predict/result.h"

typedef struct mr_context {
    const mr_trace *trace; /* NULL: the trace has no stacks */
    uint32_t *events;      /* events of interest, ascending, each once */
    size_t event_count;
    size_t *first;    /* by event of interest: index of its first acquire; one element more */
    mr_u32s acquires; /* for each event of interest, the acquires of the locks held */
} mr_context;

/* The events of interest are those of the races and other findings. False: no memory. The caller calls
 * mr_context_free in either case. */
bool mr_context_init(mr_context *context, const mr_trace *trace, const mr_result *result);
void mr_context_free(mr_context *context);

/* Prints the lines under an access: its stack, then its locks. */
void mr_context_print(const mr_context *context, FILE *stream, uint32_t event);
/* Prints the lines about the start of the thread; nothing when no event forks it. */
void mr_context_print_start(const mr_context *context, FILE *stream, uint32_t thread);

/* Adds the members "stack", "locks" and "start" to an access. */
void mr_context_put(const mr_context *context, mr_json *access, uint32_t event);

#endif
