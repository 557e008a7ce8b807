/*
 * timers: those of the kernel. Who arms one that sends a signal comes before the handler's run.
 * They count real time; when virtual time skips, they go on by as much.
 *
 * A timer descriptor that repeats counts one expiry, however much is skipped at once.
 */
#ifndef MR_RUNTIME_TIMERS_H
#define MR_RUNTIME_TIMERS_H

#include <stdint.h>

/* Lets so many ns pass for all timers, but not beyond the next one that sends a signal, which then
 * comes at once. Returns what has passed. Called with the lock of the scheduler. */
int64_t mr_timers_advance(int64_t ns);

#endif
