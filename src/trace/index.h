/*
 * index: the derived parts of a trace (trace.h): `link`, variable_info, thread_info, chains,
 * object_info, op_counts. One pass, for the whole trace, or run by run while it is read:
 *
 *   mr_index_new → mr_index_add* → mr_index_finish → mr_index_free
 *
 * A trace may be indexed while it is still growing; its columns may move between two calls.
 */
#ifndef MR_TRACE_INDEX_H
#define MR_TRACE_INDEX_H

#include "trace.h"

typedef struct mr_index mr_index;

/* NULL: no memory. */
mr_index *mr_index_new(void);
/* For a trace whose values do not matter: variable_info is zero. NULL: no memory. */
mr_index *mr_index_new_links(void);
void mr_index_free(mr_index *index); /* NULL is fine */

/* The next events [first, first + count) of the trace, which is valid: `first` is where the run
 * before ended. Fills their links, for which there is room; links of earlier events change, too.
 * O(events + new names). False: no memory; then it can only be freed. */
bool mr_index_add(mr_index *index, const mr_trace *trace, uint32_t first, uint32_t count);

/* The next event to be added is `event`: those before it are not there (trace.h, `runs`). */
void mr_index_pass_over(mr_index *index, uint32_t event);

/* When all events of the trace were added or passed over: puts what was found into it. False: no memory. */
bool mr_index_finish(mr_index *index, mr_trace *trace);

/* All of it from the columns, with room for the links. MR_ERR_MEMORY, MR_ERR_IO (spill.h). */
mr_status mr_index_build(mr_trace *trace, mr_error *error);

#endif
