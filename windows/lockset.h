/*
 * lockset: which contended locks a thread holds at each access of a window, and how far the access
 * keeps them.
 *
 * Sets are interned (mr_window.locksets): equal sets have equal numbers, set 0 is empty. An element
 * is 2 * lock, + 1 when the lock is held shared and not exclusively. Variables that are locks by
 * their values (value_locks.h) and semaphores that are by their units (unit_locks.h) count as locks behind those of the
 * window, and pairs of flags that are one together (crossed_flags.h) behind these. An access keeps its locks up
 * to its region_end, the first release after it of a contended lock that is held at it.
 */
#ifndef MR_WINDOWS_LOCKSET_H
#define MR_WINDOWS_LOCKSET_H

#include "window.h"

/* Fills `locksets`, `lockset` and `region_end` of a window that has its sections, accesses and semaphores.
 * mr_window_build calls it. False: no memory. O(window + changes of the sets · locks held). */
bool mr_window_build_locksets(mr_window *window, mr_arena *arena);

/* Do two lock sets have a lock in common that one of them holds exclusively? O(size of both). */
bool mr_locksets_meet(const mr_window *window, uint32_t lockset_1, uint32_t lockset_2);

#endif
