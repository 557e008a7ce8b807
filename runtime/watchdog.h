/*
 * watchdog: a thread of the runtime that looks after the baton every few milliseconds.
 *
 * - Who has it and sleeps in the kernel, in a call that the runtime does not know, or runs long
 * without any event while others wait (a spin loop that is not instrumented), loses it: the others
 * go on, and it waits for its turn at its next event.
 * - When all who could run are in real calls, it wakes those whose limit is over, in real time.
 *
 * How the baton is taken from a thread that may go on at any moment: `attention` is set first, then
 * a barrier on all processors (membarrier), so that the next event sees it; and only when the
 * thread has had no event since, and still sleeps or has run on for a while, the baton is given to
 * another. An event that was under way at the barrier has then moved the log's end, and the
 * watchdog gives up.
 */
#ifndef MR_RUNTIME_WATCHDOG_H
#define MR_RUNTIME_WATCHDOG_H

/* Starts it, once. */
void mr_watchdog_start(void);

#endif
