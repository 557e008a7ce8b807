/*
 * visible: which events of a window another thread may need.
 *
 * An event is private to its thread when leaving it out of a reordering can break nothing outside
 * its thread. Private are reads, begin, end, join, waits, acquires and releases (region_end of
 * window.h is about those), and writes that can satisfy no read of another thread (atomic ones are
 * as plain ones here). All other events are visible: forks, posts of semaphores that two threads
 * use, the other writes, and events from which an edge of a BarrierPair leads to another thread. A
 * visible event ends the stretch in which one access stands for later ones.
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
