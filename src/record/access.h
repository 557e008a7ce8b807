/* access: the events of an access: one for each of its pieces that is kept (pieces.h). */
#ifndef MR_RECORD_ACCESS_H
#define MR_RECORD_ACCESS_H

#include "event_state.h"

/* The memory order by its number in the log (MR_LOG_ORDER_SHIFT); consume is acquire. */
mr_memory_order mr_event_pass_memory_order(unsigned order);

/* `record` is an access or a range. MR_ERR_MEMORY, MR_ERR_IO, MR_ERR_TRACE. */
mr_status mr_event_pass_access(mr_event_pass *pass, const uint64_t *record, mr_error *error);

/* The record's object is used, or initialised or destroyed (`writes`), see uses.h. `*value` is what
 * its variable has then. */
mr_status mr_event_pass_use(mr_event_pass *pass, const uint64_t *record, bool writes,
                            int64_t *value, mr_error *error);

/* Goes over the runs that follow, up to the unit `last` of the log, as long as their accesses have no
 * event. Returns the record of the access behind them, which is read as by mr_log_next; NULL: what follows
 * is none. The thread must not be known to wait (waiting.h). */
const uint64_t *mr_event_pass_hurry(mr_event_pass *pass, uint64_t last);

/* A block that is dead is freed again: a write without a value. */
mr_status mr_event_pass_free_again(mr_event_pass *pass, const uint64_t *record, mr_error *error);

/* The variable of the object at the record's address is another one from here on. */
void mr_event_pass_renew(mr_event_pass *pass, const uint64_t *record);

#endif
