/*
 * visible: which events of a window another thread may need.
 *
 * An event is private to its thread when leaving it out of a reordering can break nothing outside
 * its thread: reads, begin, end, join, waits, acquires and releases (those are handled by
 * region_end), and writes that no other thread's read can be satisfied by (atomic ones are as plain
 * ones here). The rest (forks, posts of semaphores that two threads use, visible writes, events
 * that another thread's event needs because of an opaque call) ends the stretch in which one access
 * stands for later ones.
 */
#ifndef MR_WINDOWS_VISIBLE_H
#define MR_WINDOWS_VISIBLE_H

#include "window.h"

/*
 * `stretch[i]`, one an event: the number of visible events of i's thread before i in the
 * window, and with `count_releases` of outermost releases too. Two accesses of a thread with equal
 * numbers have nothing in between, the first included, that another thread needs, apart from
 * releases. NULL: no memory. O(window) expected.
 */
uint32_t *mr_visible_stretches(const mr_window *window, bool count_releases, mr_arena *arena);

#endif
