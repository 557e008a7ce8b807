/*
 * timers: those of the kernel. Who arms one that sends a signal comes before the handler's run.
 * They count real time; when virtual time skips, they go on by as much.
 *
 * A timer descriptor that repeats counts its expiries by the program's clocks, and a timer that calls
 * a function (SIGEV_THREAD) expires by them (timer_thread.h).
 */
#ifndef MR_RUNTIME_TIMERS_H
#define MR_RUNTIME_TIMERS_H

#include <stdint.h>

/* Lets so many ns pass for all timers, but not beyond the next one that sends a signal, which then
 * comes at once. Returns what has passed. Called with the lock of the scheduler. */
int64_t mr_timers_advance(int64_t ns);

/* A count of expiries was read from a descriptor: makes it that of the program's clocks. Nothing
 * when it is no timer, or one that does not repeat. The caller is busy. */
void mr_timers_read(int fd, uint64_t *count);

#endif
