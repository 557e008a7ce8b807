#include "deadline.h"

#include "scheduler.h"
#include "sys.h"

int64_t mr_limit_in(const struct timespec *duration)
{
    if (duration == NULL || duration->tv_sec > 1000000000) {
        return MR_NEVER;
    }
    return mr_limit_after((int64_t)duration->tv_sec * 1000000000 + duration->tv_nsec);
}

int64_t mr_limit_at(clockid_t clock, const struct timespec *at)
{
    if (at == NULL || at->tv_sec > 9000000000) {
        return MR_NEVER;
    }
    return mr_limit_after((int64_t)at->tv_sec * 1000000000 + at->tv_nsec - mr_clock_ns(clock));
}
