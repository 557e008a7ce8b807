/* deadline: the limits of timed calls, as virtual time (scheduler.h). */
#ifndef MR_RUNTIME_DEADLINE_H
#define MR_RUNTIME_DEADLINE_H

#include <stdint.h>
#include <time.h>

/* An absolute time of a clock; NULL: MR_NEVER. */
int64_t mr_limit_at(clockid_t clock, const struct timespec *at);
/* A duration; NULL: MR_NEVER. */
int64_t mr_limit_in(const struct timespec *duration);

#endif
