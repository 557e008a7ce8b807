/* leave_out: removes the events of some code from a recorded trace. BarrierPairs stand in their
 * place (exclude/exclude.h). */
#ifndef MR_RECORD_LEAVE_OUT_H
#define MR_RECORD_LEAVE_OUT_H

#include "trace/trace.h"

/* `patterns` are comma-separated patterns of the shell, for places ("lib/list.c:*") or names of
 * functions ("log_*"). An event is left out when a pattern matches its location, its innermost
 * place or its innermost function. The caller owns `*rest`, which uses the stacks of `trace`. */
mr_status mr_record_leave_out(const mr_trace *trace, const char *patterns, mr_trace **rest,
                              mr_error *error);

#endif
