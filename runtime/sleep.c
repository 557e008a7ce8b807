/* Sleeping and yielding, in virtual time (scheduler.h); and calls of the kernel that a program makes itself. */
#include "clocks.h"
#include "futex.h"
#include "inputs.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"
#include "steer.h"
#include "sys.h"
#include "thread.h"
#include "unseen.h"
#include "writer.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "direct.h"

/* Nanoseconds that were left when a signal came; 0: slept all the time. */
static int64_t sleep_until(mr_thread *thread, int64_t limit)
{
    int64_t left = 0;
    mr_yield(thread);
    mr_thread_cancel_point(thread);
    mr_wake_reason reason = mr_block(thread, NULL, limit, true);
    if (reason == MR_CANCELLED) {
        mr_thread_cancel_point(thread);
    }
    if (reason == MR_INTERRUPTED) {
        left = thread->shown_deadline - mr_elapsed_now();
        left = left > 0 ? left : 1;
        mr_attend(thread);
    }
    mr_leave(thread);
    return left;
}

/* 0, or the errno. */
static int sleep_for(mr_thread *thread, const struct timespec *duration, struct timespec *rest)
{
    if (!mr_is_time(duration)) {
        mr_leave(thread);
        return EINVAL;
    }
    int64_t left = sleep_until(thread, mr_limit_in(duration));
    if (left > 0 && rest != NULL) {
        *rest = (struct timespec){left / 1000000000, left % 1000000000};
    }
    return left > 0 ? EINTR : 0;
}

MR_EXPORT int nanosleep(const struct timespec *duration, struct timespec *rest)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(nanosleep)(duration, rest);
    }
    int status = sleep_for(thread, duration, rest);
    if (status != 0) {
        errno = status;
    }
    return status == 0 ? 0 : -1;
}

MR_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
                              struct timespec *rest)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(clock_nanosleep)(clock, flags, request, rest);
    }
    if (clock == CLOCK_THREAD_CPUTIME_ID || MR_REAL(clock_getres)(clock, NULL) != 0) {
        mr_leave(thread);
        return EINVAL;
    }
    if (!(flags & TIMER_ABSTIME) || !mr_is_time(request)) {
        return sleep_for(thread, request, rest);
    }
    return sleep_until(thread, mr_limit_at(clock, request)) > 0 ? EINTR : 0;
}

MR_EXPORT unsigned sleep(unsigned seconds)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(sleep)(seconds);
    }
    int64_t left = sleep_until(thread, mr_limit_after((int64_t)seconds * 1000000000));
    return (unsigned)(left / 1000000000);
}

MR_EXPORT int usleep(useconds_t microseconds)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(usleep)(microseconds);
    }
    if (sleep_until(thread, mr_limit_after((int64_t)microseconds * 1000)) > 0) {
        errno = EINTR;
        return -1;
    }
    return 0;
}

MR_EXPORT int thrd_sleep(const struct timespec *duration, struct timespec *rest)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(thrd_sleep)(duration, rest);
    }
    int status = sleep_for(thread, duration, rest);
    return status == 0 ? 0 : status == EINTR ? -1 : -2;
}

MR_EXPORT int sched_yield(void)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(sched_yield)();
    }
    mr_yield_to_others(thread);
    mr_leave(thread);
    return 0;
}

MR_EXPORT void thrd_yield(void)
{
    sched_yield();
}

/* A call that is not known may give something. */
static void note_input(long number)
{
    if (number != SYS_futex && number != SYS_membarrier && number != SYS_sched_getattr) {
        mr_inputs_unfed(MR_INPUTS_UNFED_SYSTEM_CALL);
    }
}

/* The system's number of the thread that a call asks about. A replay has told the program another one. */
static void ask_about(long number, long *thread_number)
{
    bool asks = number == SYS_sched_getattr || number == SYS_sched_setattr ||
                number == SYS_sched_getaffinity || number == SYS_sched_setaffinity;
    for (const mr_thread *t = mr_rt.threads; mr_steers() && asks && t != NULL; t = t->next) {
        if (t->told_id != 0 && t->told_id == *thread_number) {
            *thread_number = t->kernel_id;
            return;
        }
    }
}

MR_EXPORT long syscall(long number, ...)
{
    long a[6];
    long result = 0;
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(arguments, long);
    }
    va_end(arguments);
    mr_unseen_call(number);
    ask_about(number, &a[0]);
    bool is_given = mr_signal_system_call(number, a, MR_CALLER, &result) ||
                    mr_direct_call(number, a, MR_CALLER, &result);
    if (!is_given) {
        note_input(number);
    }
    mr_thread *thread = is_given ? NULL : mr_enter();
    if (thread != NULL && (number != SYS_futex || !mr_futex(thread, a, MR_CALLER, &result))) {
        mr_leave(thread);
        thread = NULL;
        result = mr_sys(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    } else if (thread == NULL && !is_given) {
        result = mr_sys(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
    if (mr_sys_failed(result)) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

/* Also by syscall(). */
MR_DIRECT(nanosleep)
MR_DIRECT(clock_nanosleep)
MR_DIRECT(sched_yield)
