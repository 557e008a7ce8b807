/*
 * index: the derived parts of a trace (trace.h): `link`, variable_info, thread_info, op_counts. One
 * pass, for the whole trace, or run by run while it is read:
 *
 *   mr_index_new → mr_index_add* → mr_index_finish → mr_index_free
 *
 * A trace that is still growing may be indexed by another thread than the one that reads: of the
 * trace itself only mr_index_finish takes notice.
 */
#ifndef MR_TRACE_INDEX_H
#define MR_TRACE_INDEX_H

#include "trace.h"

typedef struct mr_index mr_index;

/* The next events [first, first + count), in columns from event 0 on. */
typedef struct mr_index_run {
    uint32_t first, count;
    const uint8_t *op;
    const uint32_t *thread, *operand, *value;
    uint32_t *link; /* is filled; links of earlier events change, too */
    const mr_update *updates;
    /* every number in the columns so far is smaller */
    uint32_t thread_count, variable_count, lock_count;
} mr_index_run;

/* The events of a trace, whose columns have room for links. */
mr_index_run mr_index_run_of(const mr_trace *trace, uint32_t first, uint32_t count);

/* NULL: no memory. */
mr_index *mr_index_new(void);
void mr_index_free(mr_index *index); /* NULL is fine */

/* The events must come in the order of the trace, which is valid. O(events + new names). False: no
 * memory; then it can only be freed. */
bool mr_index_add(mr_index *index, const mr_index_run *run);

/* When all events of the trace were added: puts what was found into it. False: no memory. */
bool mr_index_finish(mr_index *index, mr_trace *trace);

/* All of it from the columns, with room for the links. MR_ERR_MEMORY, MR_ERR_IO (spill.h). */
mr_status mr_index_build(mr_trace *trace, mr_error *error);

#endif
