/*
 * clocks: the time that the program reads, and the limits of timed calls.
 *
 * Sleeps and limits count virtual time (scheduler.h), so the clocks do, too: each shows the real
 * time of the start, the virtual time since, and the real time in which nobody had the baton. They
 * never go back. Clocks of the processor's time are real. The child of a fork goes on in real time
 * from what the clocks showed.
 */
#ifndef MR_RUNTIME_CLOCKS_H
#define MR_RUNTIME_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The recording begins; it ends in a child. */
void mr_clocks_start(void);
void mr_clocks_stop(void);

/* The clock as the program reads it, in ns. A clock that does not exist is 0. */
int64_t mr_clock_shown(clockid_t clock);

/* From the time that the program reads to that of the kernel. */
struct timespec mr_clock_real_time(clockid_t clock, const struct timespec *shown);

/* Limits in virtual time: an absolute time of a clock; NULL: MR_NEVER. */
int64_t mr_limit_at(clockid_t clock, const struct timespec *at);
/* Do waits take a time of this clock as an end? */
bool mr_ends_waits(clockid_t clock);
/* Do waits take it as an end? NULL: as none. One whose seconds are negative is over. */
bool mr_is_end(clockid_t clock, const struct timespec *at);
/* Does the kernel take it as a time, or as a duration? */
bool mr_is_time(const struct timespec *time);
/* A duration; NULL: MR_NEVER. */
int64_t mr_limit_in(const struct timespec *duration);

#endif
