/* index: the derived parts of a trace (trace.h): `link`, variable_info, thread_info, op_counts. */
#ifndef MR_TRACE_INDEX_H
#define MR_TRACE_INDEX_H

#include "trace.h"

/* Fills them from the columns in one pass, O(events + names). MR_ERR_MEMORY, MR_ERR_IO (spill.h).
 */
mr_status mr_index_build(mr_trace *trace, mr_error *error);

#endif
