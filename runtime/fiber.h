/*
 * fiber: stacks of their own that a program switches between, as it tells by __tsan_create_fiber and
 * so on. A fiber is a thread of the trace, and so is what a thread does outside of its fibers: its
 * own fiber. What the running fiber is named by, and its functions entered, are in mr_thread; a switch
 * changes them.
 */
#ifndef MR_RUNTIME_FIBER_H
#define MR_RUNTIME_FIBER_H

#include "state.h"

/* The thread ends: it is its own fiber again. The caller is busy. */
void mr_fiber_home(mr_thread *thread);

#endif
