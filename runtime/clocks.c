#include "clocks.h"

#include "assembly_calls.h"
#include "inputs.h"
#include "memory.h"
#include "modules.h"
#include "real.h"
#include "scheduler.h"
#include "sys.h"

#include <errno.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

enum { CLOCKS = CLOCK_TAI + 1, SECOND_NS = 1000000000 };

/* What a clock shows beyond the time that passed: with virtual time since the start, without it in
 * a child beyond the real time. */
static struct {
    int64_t at_start[CLOCKS];
    int64_t ahead[CLOCKS];
} clocks;

/* Coarse clocks go with those that they are made of. */
static clockid_t basis_of(clockid_t clock)
{
    return clock == CLOCK_REALTIME_COARSE    ? CLOCK_REALTIME
           : clock == CLOCK_MONOTONIC_COARSE ? CLOCK_MONOTONIC
                                             : clock;
}

static bool is_of_processor(clockid_t clock)
{
    return clock < 0 || clock >= CLOCKS || clock == CLOCK_PROCESS_CPUTIME_ID ||
           clock == CLOCK_THREAD_CPUTIME_ID;
}

void mr_clocks_start(void)
{
    for (clockid_t clock = 0; clock < CLOCKS; clock++) {
        clocks.at_start[clock] = mr_clock_ns(basis_of(clock)) - mr_elapsed_now();
        mr_inputs_clock(clock, &clocks.at_start[clock]);
    }
}

void mr_clocks_stop(void)
{
    for (clockid_t clock = 0; clock < CLOCKS; clock++) {
        clocks.ahead[clock] = mr_clock_shown(clock) - mr_clock_ns(basis_of(clock));
    }
}

int64_t mr_clock_shown(clockid_t clock)
{
    if (is_of_processor(clock)) {
        return mr_clock_ns(clock);
    }
    return mr_rt.active ? clocks.at_start[clock] + mr_elapsed_now()
                        : clocks.ahead[clock] + mr_clock_ns(clock);
}

static struct timespec in_seconds(int64_t ns)
{
    return (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
}

struct timespec mr_clock_real_time(clockid_t clock, const struct timespec *shown)
{
    int64_t limit = mr_limit_at(clock, shown);
    if (limit == MR_NEVER) {
        return *shown;
    }
    return in_seconds(limit - mr_virtual_now() + mr_clock_ns(clock));
}

bool mr_is_time(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < SECOND_NS;
}

bool mr_ends_waits(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

bool mr_is_end(clockid_t clock, const struct timespec *at)
{
    return at == NULL || (mr_ends_waits(clock) && at->tv_nsec >= 0 && at->tv_nsec < SECOND_NS);
}

int64_t mr_limit_in(const struct timespec *duration)
{
    if (duration == NULL || duration->tv_sec > 1000000000) {
        return MR_NEVER;
    }
    return mr_limit_after((int64_t)duration->tv_sec * SECOND_NS + duration->tv_nsec);
}

int64_t mr_limit_at(clockid_t clock, const struct timespec *at)
{
    if (at == NULL || at->tv_sec > 9000000000) {
        return MR_NEVER;
    }
    return mr_limit_after((int64_t)at->tv_sec * SECOND_NS + at->tv_nsec - mr_clock_shown(clock));
}

/* What the clock shows: an input. Reading a clock takes time, and may be what a loop waits with. */
static int64_t show(clockid_t clock)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return mr_clock_shown(clock);
    }
    mr_yield(thread);
    int64_t own = mr_clock_shown(clock);
    mr_inputs_log_clock(clock, clocks.at_start[clock]);
    int64_t shown = mr_input_number(thread, MR_INPUT_CLOCK, (uint64_t)clock, own);
    if (shown > own && !is_of_processor(clock)) {
        mr_rt.waited_ns += shown - own; /* who waits until then has seen that time */
    }
    mr_leave(thread);
    return shown;
}

static void log_written(const void *written, size_t bytes, uintptr_t code)
{
    mr_thread *thread = written != NULL && mr_is_instrumented(code) ? mr_enter() : NULL;
    mr_memory_end(thread, written, bytes, code);
}

/* Do the clocks show the real time? */
static bool are_real(void)
{
    return !mr_rt.active && clocks.ahead[CLOCK_MONOTONIC] == 0;
}

MR_EXPORT int clock_gettime(clockid_t clock, struct timespec *to)
{
    bool is_special = is_of_processor(clock) && !mr_inputs_are_logged() && !mr_inputs_are_fed();
    if (are_real() || is_special || clock < 0 || clock >= CLOCKS) {
        int status = MR_REAL(clock_gettime)(clock, to);
        log_written(to, status == 0 ? sizeof *to : 0, MR_CALLER);
        return status;
    }
    *to = in_seconds(show(clock));
    log_written(to, sizeof *to, MR_CALLER);
    return 0;
}

/* The header forbids NULL, but old programs pass it when they want the zone alone. */
static void show_time_of_day(struct timeval *to)
{
    struct timespec now = in_seconds(show(CLOCK_REALTIME));
    if (to != NULL) {
        TIMESPEC_TO_TIMEVAL(to, &now);
    }
}

MR_EXPORT int gettimeofday(struct timeval *restrict to, void *restrict zone)
{
    int status = MR_REAL(gettimeofday)(to, zone);
    if (!are_real()) {
        show_time_of_day(to);
    }
    log_written(to, sizeof *to, MR_CALLER);
    return status;
}

MR_EXPORT time_t time(time_t *to)
{
    if (are_real()) {
        return MR_REAL(time)(to);
    }
    time_t now = show(CLOCK_REALTIME) / SECOND_NS;
    if (to != NULL) {
        *to = now;
    }
    log_written(to, sizeof *to, MR_CALLER);
    return now;
}

MR_EXPORT int timespec_get(struct timespec *to, int base)
{
    if (base != TIME_UTC) {
        return 0;
    }
    clock_gettime(CLOCK_REALTIME, to);
    log_written(to, sizeof *to, MR_CALLER);
    return base;
}

/* The result is a time that passed, the rest are times of the processor. */
MR_EXPORT clock_t times(struct tms *to)
{
    clock_t result = MR_REAL(times)(to);
    if (!are_real()) {
        result = show(CLOCK_MONOTONIC) / (SECOND_NS / sysconf(_SC_CLK_TCK));
    }
    log_written(to, sizeof *to, MR_CALLER);
    return result;
}

uint64_t mr_clock_ticks(uint64_t ticks)
{
    return are_real() ? ticks : (uint64_t)show(CLOCK_MONOTONIC);
}
