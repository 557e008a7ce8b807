/*
 * slow: what the derived columns of a trace say, computed from the raw ones, event by event.
 */
#ifndef MR_TESTS_SUPPORT_SLOW_H
#define MR_TESTS_SUPPORT_SLOW_H

#include "trace/trace.h"

bool mr_slow_is_write(const mr_trace *trace, uint32_t e);

bool mr_slow_is_read(const mr_trace *trace, uint32_t e);

bool mr_slow_is_access(const mr_trace *trace, uint32_t e);

uint32_t mr_slow_read_value(const mr_trace *trace, uint32_t e);

uint32_t mr_slow_written_value(const mr_trace *trace, uint32_t e);

/* How often the thread holds the lock in this way just before `event`. */
uint32_t mr_slow_depth(const mr_trace *trace, uint32_t event, uint32_t thread, uint32_t lock,
                       bool shared);

bool mr_slow_is_outermost(const mr_trace *trace, uint32_t e);

/* Does an outermost section begin here? */
bool mr_slow_begins(const mr_trace *trace, uint32_t e);

/* The last write of the variable in [from, to), by `thread` when it is not MR_NONE; or MR_NONE. */
uint32_t mr_slow_last_write(const mr_trace *trace, uint32_t from, uint32_t to, uint32_t variable,
                            uint32_t thread);

uint32_t mr_slow_next_write(const mr_trace *trace, uint32_t from, uint32_t to, uint32_t variable,
                            uint32_t thread);

/* The outermost event at `e` or later, before `end`, by which the thread gives up the lock, held in
 * this way; or MR_NONE. */
uint32_t mr_slow_release_after(const mr_trace *trace, uint32_t e, uint32_t end, uint32_t thread,
                               uint32_t lock, bool shared);

#endif
