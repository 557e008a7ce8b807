/*
 * order_events: the events of what orders threads and is no lock: an annotated order, a pipe, a signal, the number of a
 * descriptor, a cancellation. Part of the event pass (event_state.h).
 */
#ifndef MR_RECORD_ORDER_EVENTS_H
#define MR_RECORD_ORDER_EVENTS_H

#include "event_state.h"

/* The events of BEFORE, which counts, or of AFTER, which sees the count. */
mr_status mr_event_pass_order(mr_event_pass *pass, const uint64_t *record, bool before,
                              mr_error *error);

#endif
