#include "timers.h"

#include "channels.h"
#include "clocks.h"
#include "descriptors.h"
#include "input_descriptors.h"
#include "memory.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"
#include "sys.h"
#include "timer_thread.h"
#include "watchdog.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define VERSION "GLIBC_2.3.3"

enum { TIMERS_MAX = 256, SECOND_NS = 1000000000 };

typedef enum timer_kind {
    UNUSED,
    INTERVAL,   /* ITIMER_REAL */
    POSIX,      /* timer_create, with a signal */
    DESCRIPTOR, /* timerfd_create */
} timer_kind;

/* A timer that was armed once; whether it is, the kernel knows. */
typedef struct known_timer {
    timer_kind kind;
    timer_t timer;           /* POSIX */
    int fd;                  /* DESCRIPTOR */
    int number;              /* the signal that it sends, 0: none */
    mr_timer_thread *thread; /* NULL: it calls no function */
    clockid_t clock;
    int64_t due;      /* its first expiry by the program's clocks (mr_elapsed_now) */
    int64_t interval; /* in ns, 0: once */
    int64_t counted;  /* DESCRIPTOR: expiries that were read */
} known_timer;

/* Changed with the baton held, or with the lock of the scheduler when nobody has it. */
static struct {
    known_timer of[TIMERS_MAX];
    int count; /* of places used so far */
} timers;

static known_timer *find(timer_kind kind, timer_t timer, int fd)
{
    for (int i = 0; i < timers.count; i++) {
        known_timer *at = &timers.of[i];
        if (at->kind == kind && (kind != POSIX || at->timer == timer) &&
            (kind != DESCRIPTOR || at->fd == fd)) {
            return at;
        }
    }
    return NULL;
}

bool mr_timers_exist(void)
{
    for (int i = 0; i < timers.count; i++) {
        if (timers.of[i].kind == POSIX && timers.of[i].number != 0) {
            return true;
        }
    }
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        struct itimerval left = {.it_value = {0, 0}};
        mr_sys(SYS_getitimer, which, (long)&left, 0, 0, 0, 0);
        if (left.it_value.tv_sec != 0 || left.it_value.tv_usec != 0) {
            return true;
        }
    }
    return false;
}

static void keep(const known_timer *timer)
{
    known_timer *at = find(timer->kind, timer->timer, timer->fd);
    if (at == NULL) {
        at = find(UNUSED, NULL, 0);
    }
    if (at == NULL && timers.count < TIMERS_MAX) {
        at = &timers.of[timers.count++];
    }
    if (at != NULL) {
        *at = *timer;
    }
}

/* The kernel's number of a timer that sends a signal (glibc). The kernel is asked directly, because
 * a thread that waits may hold the lock that looking up a function takes. */
static long number_of(const known_timer *timer)
{
    return (long)(intptr_t)timer->timer;
}

static int64_t in_ns(const struct timespec *duration)
{
    return (int64_t)duration->tv_sec * SECOND_NS + duration->tv_nsec;
}

static int64_t in_ns_of(const struct timeval *duration)
{
    return (int64_t)duration->tv_sec * SECOND_NS + duration->tv_usec * 1000;
}

/* The time to the next expiry, 0: it is not armed. */
static bool get(const known_timer *timer, struct itimerspec *now)
{
    struct itimerval interval;
    switch (timer->kind) {
    case INTERVAL:
        if (mr_sys(SYS_getitimer, ITIMER_REAL, (long)&interval, 0, 0, 0, 0) != 0) {
            return false;
        }
        TIMEVAL_TO_TIMESPEC(&interval.it_value, &now->it_value);
        TIMEVAL_TO_TIMESPEC(&interval.it_interval, &now->it_interval);
        return true;
    case POSIX:
        return mr_sys(SYS_timer_gettime, number_of(timer), (long)now, 0, 0, 0, 0) == 0;
    case DESCRIPTOR:
        return mr_sys(SYS_timerfd_gettime, timer->fd, (long)now, 0, 0, 0, 0) == 0;
    case UNUSED:
        break;
    }
    return false;
}

static void set(const known_timer *timer, const struct itimerspec *value)
{
    struct itimerval interval;
    if (timer->kind == INTERVAL) {
        TIMESPEC_TO_TIMEVAL(&interval.it_value, &value->it_value);
        TIMESPEC_TO_TIMEVAL(&interval.it_interval, &value->it_interval);
        interval.it_value.tv_usec +=
            interval.it_value.tv_sec == 0 && interval.it_value.tv_usec == 0;
        mr_sys(SYS_setitimer, ITIMER_REAL, (long)&interval, 0, 0, 0, 0);
    } else if (timer->kind == POSIX) {
        mr_sys(SYS_timer_settime, number_of(timer), 0, (long)value, 0, 0, 0);
    } else {
        mr_sys(SYS_timerfd_settime, timer->fd, 0, (long)value, 0, 0, 0);
    }
}

/* Does a clock count the time that passes, and not that of a processor? */
static bool counts_time(clockid_t clock)
{
    return clock >= 0 && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
}

/* A descriptor that has expired and was not read yet would forget that. */
static bool is_armed(const known_timer *timer, struct itimerspec *now)
{
    struct pollfd one = {.fd = timer->fd, .events = POLLIN};
    return counts_time(timer->clock) && get(timer, now) && in_ns(&now->it_value) > 0 &&
           !(timer->kind == DESCRIPTOR && mr_poll_now(&one, 1) != 0);
}

/* The time to its next expiry by the program's clocks, at least 1. Those are master: the kernel's
 * time only tells which expiry it is. */
static int64_t left_of(const known_timer *timer, const struct itimerspec *now)
{
    int64_t left = timer->due - mr_elapsed_now();
    int64_t interval = in_ns(&now->it_interval);
    int64_t behind = in_ns(&now->it_value) - left;
    if (interval > 0 && behind > 0) {
        left += (behind + interval / 2) / interval * interval;
    }
    return left > 0 ? left : 1;
}

int64_t mr_timers_advance(int64_t ns)
{
    struct itimerspec now;
    for (int i = 0; i < timers.count; i++) {
        if (timers.of[i].number != 0 && is_armed(&timers.of[i], &now)) {
            int64_t left = left_of(&timers.of[i], &now);
            ns = ns < left ? ns : left;
        }
    }
    for (int i = 0; i < timers.count; i++) {
        if (is_armed(&timers.of[i], &now)) {
            int64_t left = left_of(&timers.of[i], &now) - ns;
            left = left > 0 ? left : 1;
            now.it_value = (struct timespec){left / SECOND_NS, left % SECOND_NS};
            set(&timers.of[i], &now);
        }
    }
    return ns;
}

void mr_timers_read(int fd, uint64_t *count)
{
    struct itimerspec now;
    known_timer *timer = find(DESCRIPTOR, NULL, fd);
    if (timer == NULL || timer->interval <= 0 || !counts_time(timer->clock) || !get(timer, &now)) {
        return; /* the number may be that of another file by now */
    }
    int64_t past = mr_elapsed_now() - timer->due;
    int64_t more = (past < 0 ? 0 : past / timer->interval + 1) - timer->counted;
    *count = more > 1 ? (uint64_t)more : 1;
    timer->counted += (int64_t)*count;
}

/* Logs that a timer is armed, to expire in so many ns (0: it is disarmed), and keeps it. */
static void arm(known_timer timer, int64_t ns, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_signal_caused(timer.number, code);
        timer.due = mr_elapsed_now() + ns;
        keep(&timer);
        if (timer.thread != NULL) {
            mr_timer_thread_arm(timer.thread, ns, timer.interval, code);
        }
        mr_watchdog_start(); /* the signal may come when all threads wait */
        mr_leave(thread);
    }
}

static void arm_interval(int64_t ns, uintptr_t code)
{
    arm((known_timer){.kind = INTERVAL, .number = SIGALRM}, ns, code);
}

static void end(int status, const void *written, size_t bytes, uintptr_t code)
{
    if (status == 0 && written != NULL) {
        mr_memory_end(mr_memory_begin(code), written, bytes, code);
    }
}

MR_EXPORT int setitimer(enum __itimer_which which, const struct itimerval *restrict value,
                        struct itimerval *restrict old)
{
    if (which == ITIMER_REAL) {
        arm_interval(value == NULL ? 0 : in_ns_of(&value->it_value), MR_CALLER);
    } else {
        mr_thread *thread = mr_enter();
        if (thread != NULL) {
            mr_signal_caused(which == ITIMER_VIRTUAL ? SIGVTALRM : SIGPROF, MR_CALLER);
            mr_watchdog_start();
            mr_leave(thread);
        }
    }
    int status = MR_REAL(setitimer)(which, value, old);
    end(status, old, sizeof *old, MR_CALLER);
    return status;
}

MR_EXPORT unsigned alarm(unsigned seconds)
{
    arm_interval((int64_t)seconds * SECOND_NS, MR_CALLER);
    return MR_REAL(alarm)(seconds);
}

MR_EXPORT useconds_t ualarm(useconds_t value, useconds_t interval)
{
    arm_interval((int64_t)value * 1000, MR_CALLER);
    return MR_REAL(ualarm)(value, interval);
}

/* A timer that calls a function; the kernel has one that does nothing. */
static int create_calling(clockid_t clock, const struct sigevent *event, timer_t *timer,
                          uintptr_t code)
{
    struct sigevent none = {.sigev_notify = SIGEV_NONE};
    int status = MR_REAL_VERSION(timer_create, VERSION)(clock, &none, timer);
    mr_timer_thread *calls = status == 0 ? mr_timer_thread_make(event, code) : NULL;
    if (status == 0 && calls == NULL) {
        MR_REAL_VERSION(timer_delete, VERSION)(*timer);
        errno = EAGAIN;
        return -1;
    }
    mr_thread *thread = status == 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        keep(&(known_timer){.kind = POSIX, .timer = *timer, .thread = calls, .clock = clock});
        mr_leave(thread);
    }
    return status;
}

static int create_other(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    int status = MR_REAL_VERSION(timer_create, VERSION)(clock, event, timer);
    mr_thread *thread = status == 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        bool sends = event == NULL || event->sigev_notify == SIGEV_SIGNAL ||
                     event->sigev_notify == SIGEV_THREAD_ID;
        if (sends) {
            keep(&(known_timer){.kind = POSIX,
                                .timer = *timer,
                                .number = event == NULL ? SIGALRM : event->sigev_signo,
                                .clock = clock});
        }
        mr_leave(thread);
    }
    return status;
}

MR_EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event,
                           timer_t *restrict timer)
{
    bool calls = mr_self != NULL && event != NULL && event->sigev_notify == SIGEV_THREAD &&
                 counts_time(clock);
    int status =
        calls ? create_calling(clock, event, timer, MR_CALLER) : create_other(clock, event, timer);
    end(status, timer, sizeof *timer, MR_CALLER);
    return status;
}

/* The time to the first expiry of a timer that is set, negative: it is over. 0: the timer is disarmed. */
static int64_t first_of(const struct itimerspec *value, bool absolute, clockid_t clock)
{
    if (in_ns(&value->it_value) == 0) {
        return 0;
    }
    int64_t left = in_ns(&value->it_value) - (absolute ? mr_clock_shown(clock) : 0);
    return left != 0 ? left : -1; /* it expires now */
}

/* A time to set, as the kernel takes it: an absolute one is of the program's clocks. */
static struct itimerspec for_kernel(const struct itimerspec *value, bool absolute, clockid_t clock)
{
    struct itimerspec result = *value;
    if (absolute && in_ns(&value->it_value) != 0) {
        result.it_value = mr_clock_real_time(clock, &value->it_value);
    }
    return result;
}

MR_EXPORT int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict value,
                            struct itimerspec *restrict old)
{
    const known_timer *known = mr_self != NULL ? find(POSIX, timer, 0) : NULL;
    if (known == NULL) {
        return MR_REAL_VERSION(timer_settime, VERSION)(timer, flags, value, old);
    }
    bool absolute = (flags & TIMER_ABSTIME) != 0;
    known_timer armed = *known;
    armed.interval = in_ns(&value->it_interval);
    arm(armed, first_of(value, absolute, known->clock), MR_CALLER);
    struct itimerspec real = for_kernel(value, absolute, known->clock);
    int status = MR_REAL_VERSION(timer_settime, VERSION)(timer, flags, &real, old);
    end(status, old, sizeof *old, MR_CALLER);
    return status;
}

MR_EXPORT int timer_delete(timer_t timer)
{
    mr_thread *thread = mr_enter();
    known_timer *known = find(POSIX, timer, 0);
    if (thread != NULL) {
        if (known != NULL) {
            known->kind = UNUSED;
            if (known->thread != NULL) {
                mr_timer_thread_end(known->thread);
            }
        }
        mr_leave(thread);
    }
    return MR_REAL_VERSION(timer_delete, VERSION)(timer);
}

MR_EXPORT int timerfd_create(clockid_t clock, int flags)
{
    mr_input input;
    bool is_made = mr_descriptor_expect(&input, MR_NEW_OTHER);
    int fd = is_made ? MR_REAL(timerfd_create)(clock, flags) : -1;
    fd = mr_descriptor_made(&input, MR_NEW_OTHER, fd, MR_DESCRIPTOR_UNKNOWN);
    mr_thread *thread = fd >= 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        keep(&(known_timer){.kind = DESCRIPTOR, .fd = fd, .clock = clock});
        mr_descriptor_given(thread, fd, false, MR_CALLER);
        mr_channel_new_timer(fd);
        mr_leave(thread);
    }
    return fd;
}

/* Who sets it comes before who finds that it has expired. */
static void log_set(int fd, const struct itimerspec *value, uintptr_t code)
{
    mr_thread *thread = mr_memory_begin(code);
    if (thread != NULL) {
        mr_memory_read(thread, value, sizeof *value, code);
    } else {
        thread = mr_enter(); /* libraries that are not recorded set timers, too */
    }
    if (thread != NULL) {
        mr_channel_log(MR_LOG_BEFORE, fd, code);
        mr_leave(thread);
    }
}

MR_EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *value,
                              struct itimerspec *old)
{
    const known_timer *known = mr_self != NULL ? find(DESCRIPTOR, NULL, fd) : NULL;
    if (known == NULL) {
        return MR_REAL(timerfd_settime)(fd, flags, value, old);
    }
    log_set(fd, value, MR_CALLER);
    bool absolute = (flags & TFD_TIMER_ABSTIME) != 0;
    known_timer timer = *known;
    timer.interval = in_ns(&value->it_interval);
    timer.counted = 0;
    arm(timer, first_of(value, absolute, known->clock), MR_CALLER);
    struct itimerspec real = for_kernel(value, absolute, known->clock);
    int status = MR_REAL(timerfd_settime)(fd, flags, &real, old);
    end(status, old, sizeof *old, MR_CALLER);
    return status;
}
