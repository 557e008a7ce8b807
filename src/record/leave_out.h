/* leave_out: removes the events of some code from a recorded trace. BarrierPairs stand in their
 * place (exclude/exclude.h). */
#ifndef MR_RECORD_LEAVE_OUT_H
#define MR_RECORD_LEAVE_OUT_H

#include "trace/places.h"

/* `patterns` are comma-separated (trace/places.h), and `tell` gets those that match nothing. An event
 * is left out when its location is chosen. The caller owns `*rest`, which uses the stacks of `trace`. */
mr_status mr_record_leave_out(const mr_trace *trace, const char *patterns,
                              mr_places_unmatched *tell, void *context, mr_trace **rest,
                              mr_error *error);

#endif
