/* reason_text: a reason in words. */
#ifndef MR_EXPLAIN_REASON_TEXT_H
#define MR_EXPLAIN_REASON_TEXT_H

#include "reason.h"

#include <stdio.h>

/* "write by T1 at bank.c:21, event 3". */
void mr_explain_event(FILE *stream, const mr_trace *trace, uint32_t event);

/* The lines of a reason, for so many pairs of events of which it is one. */
void mr_reason_print(FILE *stream, const mr_trace *trace, const mr_reason *reason, uint64_t pairs);

#endif
