/* standing: the last writes and the open sections while events of a trace come in another order than that of the trace. */
#ifndef MR_HUNT_STANDING_H
#define MR_HUNT_STANDING_H

#include "trace/trace.h"

/* Zero-initialise; free with mr_standing_free. */
typedef struct mr_standing {
    uint32_t *last;     /* by variable: the last write that came, MR_NONE */
    uint32_t *holders;  /* by lock: sections that are open … */
    uint8_t *exclusive; /* … and one of them excludes all others */
} mr_standing;

/* No event has come. False: no memory. */
bool mr_standing_make(mr_standing *standing, const mr_trace *trace);
void mr_standing_free(mr_standing *standing);

/* Does the event acquire a lock that its thread does not hold? */
bool mr_standing_is_outermost(const mr_trace *trace, uint32_t event);

/* Do the open sections let this outermost acquire come? */
bool mr_standing_can_acquire(const mr_standing *standing, const mr_trace *trace, uint32_t event);

/* The event comes. */
void mr_standing_take(mr_standing *standing, const mr_trace *trace, uint32_t event);

#endif
