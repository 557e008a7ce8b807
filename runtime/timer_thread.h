/*
 * timer_thread: timers that call a function in a thread of its own (SIGEV_THREAD). glibc makes these
 * threads unseen, so here a thread of the program waits in virtual time for each such timer, and
 * starts the threads.
 */
#ifndef MR_RUNTIME_TIMER_THREAD_H
#define MR_RUNTIME_TIMER_THREAD_H

#include <signal.h>
#include <stdint.h>

typedef struct mr_timer_thread mr_timer_thread;

/* NULL: there is no room. The caller is not busy. */
mr_timer_thread *mr_timer_thread_make(const struct sigevent *event, uintptr_t code);
/* The first expiry is in so many ns, 0: none; then one every `interval` ns, 0: no more. The caller is
 * busy. */
void mr_timer_thread_arm(mr_timer_thread *self, int64_t ns, int64_t interval, uintptr_t code);
/* It is deleted. The caller is busy. */
void mr_timer_thread_end(mr_timer_thread *self);

#endif
