/*
 * guarded_writes: plain writes of a variable that are as atomic updates, because a lock guards the
 * variable: `lock; if (!taken) taken = 1; unlock`.
 *
 * A lock guards x in a window when each write of x in the window is in an exclusive section of it, but for
 * initial ones: without a lock, by a thread that then forks all others that write x. A write of x in a section
 * then *replaces* the value that its thread accessed x with last, when that access is in the same
 * section, or the value that is carried in, when the section is, too. Nobody else writes x in between, in any reordering: that would need the lock. So in model
 * value, where what a thread has read is what it read in the trace, x has this value when the write is
 * next.
 */
#ifndef MR_WINDOWS_GUARDED_WRITES_H
#define MR_WINDOWS_GUARDED_WRITES_H

#include "window.h"

/* `(*replaced)[e]`: the index of the value that the write `e`, no atomic update, replaces; 0: not known, or another
 * event. NULL: it is known of none. Of a window that has its accesses and `held`. The memory is the
 * arena's. False: no memory. O(window · log). */
bool mr_guarded_writes_find(const mr_window *window, uint32_t **replaced, mr_arena *arena);

#endif
