/* leave_out: a recorded trace without the events of some code; calls that were not recorded stand
 * in their place (exclude/exclude.h). */
#ifndef MR_RECORD_LEAVE_OUT_H
#define MR_RECORD_LEAVE_OUT_H

#include "trace/trace.h"

/* `patterns`: comma-separated patterns of the shell, of places ("lib/list.c:*") or of names of
 * functions
 * ("log_*"); an event is left out when its location, its innermost place or its innermost function
 * matches one. `*rest` is owned by the caller; its stacks are those of `trace`. */
mr_status mr_record_leave_out(const mr_trace *trace, const char *patterns, mr_trace **rest,
                              mr_error *error);

#endif
