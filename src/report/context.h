/*
 * context: what reports say of the accesses of a recorded program beside the accesses themselves:
 * the call stack, the locks that the thread holds and where it took them, and where the thread was
 * started. Only of traces with call stacks (.mrt files of `maxrace record`); of others nothing.
 *
 *   mr_context_init(all events of interest) → mr_context_print | mr_context_put* → mr_context_free
 *
 * Locks are those held in the trace. By program order the thread holds them at this event in
 * every reordering, too. One pass over the events: O(events + locks held at the events of
 * interest).
 */
#ifndef MR_REPORT_CONTEXT_H
#define MR_REPORT_CONTEXT_H

#include "json_object.h"
#include "predict/result.h"

typedef struct mr_context {
    const mr_trace *trace; /* NULL: the trace has no stacks */
    uint32_t *events;      /* of interest, ascending, each once */
    size_t event_count;
    size_t *first;    /* by event of interest: where its acquires begin; one more at the end */
    mr_u32s acquires; /* events, in the order of the trace */
} mr_context;

/* The accesses of the races. False: no memory; free in either case. */
bool mr_context_init(mr_context *context, const mr_trace *trace, const mr_result *result);
void mr_context_free(mr_context *context);

/* The lines under an access: its stack, then its locks. */
void mr_context_print(const mr_context *context, FILE *stream, uint32_t event);
/* The lines about the start of the thread; nothing for one that no event forks. */
void mr_context_print_start(const mr_context *context, FILE *stream, uint32_t thread);

/* Members "stack", "locks" and "start" of an access. */
void mr_context_put(const mr_context *context, mr_json *access, uint32_t event);

#endif
