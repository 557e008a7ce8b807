/*
 * unrecorded_calls: the BarrierPairs of the event pass: mbegin with the names of what the call can
 * reach, and mend. A CALL_BEGIN record is followed by its CALL_REACH records; the last of them writes
 * mbegin.
 *
 * Each function: MR_ERR_MEMORY, MR_ERR_IO, MR_ERR_TRACE.
 */
#ifndef MR_RECORD_UNRECORDED_CALLS_H
#define MR_RECORD_UNRECORDED_CALLS_H

#include "event_state.h"

mr_status mr_event_pass_call_begin(mr_event_pass *pass, const uint64_t *record, mr_error *error);
mr_status mr_event_pass_call_reach(mr_event_pass *pass, const uint64_t *record, mr_error *error);
mr_status mr_event_pass_call_end(mr_event_pass *pass, const uint64_t *record, mr_error *error);

#endif
