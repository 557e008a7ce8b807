/* event_pass: the second pass over a log. It makes the events of the trace from the records. */
#ifndef MR_RECORD_EVENT_PASS_H
#define MR_RECORD_EVENT_PASS_H

#include "event_state.h"

/* Goes over the log and completes the trace. MR_ERR_MEMORY, MR_ERR_IO, MR_ERR_TRACE. */
mr_status mr_event_pass_run(mr_event_pass *pass, const struct mr_progress *progress,
                            mr_error *error);

#endif
