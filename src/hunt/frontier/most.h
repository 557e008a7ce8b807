/*
 * most: a way (way.h) that keeps as much of the trace as it can.
 *
 * The short way leaves out what need not come, so a thread of which nothing is needed begins after the goal. Here each thread stands
 * where it stood in the trace: events come in trace order, and a thread ends before its first event that cannot come. So a thread that
 * has read a counter, and is about to write it, stands between the two when another thread reads the same value. By the short way that
 * thread has not begun, and will read what the other one writes.
 *
 * An event cannot come when its thread was not forked, it reads what is not there then, takes what nobody has given, joins a thread that
 * did not end, acquires a lock that a section keeps from it, or writes the variable of the goal behind the write that is to be seen.
 */
#ifndef MR_HUNT_MOST_H
#define MR_HUNT_MOST_H

#include "way.h"

/* Finds the events up to where `read` sees `write` (MR_NONE: the initial value), in trace order. MR_WAY_NONE: that is not the case
 * after those that can come. O(events). */
mr_way_answer mr_most_way(const mr_trace *trace, uint32_t read, uint32_t write, mr_u32s *events);

#endif
