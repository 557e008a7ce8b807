/*
 * unit_locks: semaphores that are locks by their units alone, such as one that is made with one unit, which threads take
 * before they access what they share and give back afterwards.
 *
 * In the window each thread takes a unit, gives it back, takes one again, and so on. A thread whose first operation gives a unit
 * gives one that it has from before the window, or makes one. The units at the start and those threads are one in all.
 *
 * Then no reordering has two threads *inside* at once, where a thread is inside from its wait up to its post, and who gives a
 * unit first is inside from the start. Proof: the units that are there and the threads inside are one in all: so it is at
 * the start, a wait takes a unit and its thread is inside, a post the other way round. Units are never less than none.
 *
 * One thread at least gives back what it took. A unit that one thread gives and another one takes, such as the wake-up of a
 * condition variable, is in order anyway, and thousands of them would make as many lock sets.
 *
 * This needs rule 4 of docs/semantics.md 2 only, so it holds in each model. Whether the post itself is inside does not matter: it is no access.
 */
#ifndef MR_WINDOWS_UNIT_LOCKS_H
#define MR_WINDOWS_UNIT_LOCKS_H

#include "value_locks.h"

/* Of a window that has its semaphores. Adds them to `found`. False: no memory. O(window). */
bool mr_unit_locks_find(const mr_window *window, mr_value_locks *found, mr_arena *arena);

#endif
