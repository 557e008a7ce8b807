/* Timers that send signals: who arms one comes before the handler's run. */
#include "memory.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define VERSION "GLIBC_2.3.3"

enum { TIMERS_MAX = 256 };

/* The signals of the timers that the program has made. */
static struct {
    timer_t timer;
    int number; /* 0: the place is free */
} timers[TIMERS_MAX];

static void log_armed(int number, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_signal_caused(number, code);
        mr_leave(thread);
    }
}

static void keep_timer(timer_t timer, int number)
{
    for (int i = 0; i < TIMERS_MAX; i++) {
        if (timers[i].number == 0) {
            timers[i].timer = timer;
            timers[i].number = number;
            return;
        }
    }
}

static int *signal_of(timer_t timer)
{
    for (int i = 0; i < TIMERS_MAX; i++) {
        if (timers[i].number != 0 && timers[i].timer == timer) {
            return &timers[i].number;
        }
    }
    return NULL;
}

MR_EXPORT int setitimer(enum __itimer_which which, const struct itimerval *restrict value,
                        struct itimerval *restrict old)
{
    log_armed(which == ITIMER_REAL      ? SIGALRM
              : which == ITIMER_VIRTUAL ? SIGVTALRM
                                        : SIGPROF,
              MR_CALLER);
    int status = MR_REAL(setitimer)(which, value, old);
    if (status == 0 && old != NULL) {
        mr_memory_end(mr_memory_begin(MR_CALLER), old, sizeof *old, MR_CALLER);
    }
    return status;
}

MR_EXPORT unsigned alarm(unsigned seconds)
{
    log_armed(SIGALRM, MR_CALLER);
    return MR_REAL(alarm)(seconds);
}

MR_EXPORT useconds_t ualarm(useconds_t value, useconds_t interval)
{
    log_armed(SIGALRM, MR_CALLER);
    return MR_REAL(ualarm)(value, interval);
}

MR_EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event,
                           timer_t *restrict timer)
{
    int status = MR_REAL_VERSION(timer_create, VERSION)(clock, event, timer);
    mr_thread *thread = status == 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        bool sends = event == NULL || event->sigev_notify == SIGEV_SIGNAL ||
                     event->sigev_notify == SIGEV_THREAD_ID;
        if (sends) {
            keep_timer(*timer, event == NULL ? SIGALRM : event->sigev_signo);
        }
        mr_memory_end(thread, timer, sizeof *timer, MR_CALLER);
    }
    return status;
}

MR_EXPORT int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict value,
                            struct itimerspec *restrict old)
{
    const int *number = signal_of(timer);
    if (number != NULL) {
        log_armed(*number, MR_CALLER);
    }
    int status = MR_REAL_VERSION(timer_settime, VERSION)(timer, flags, value, old);
    if (status == 0 && old != NULL) {
        mr_memory_end(mr_memory_begin(MR_CALLER), old, sizeof *old, MR_CALLER);
    }
    return status;
}

MR_EXPORT int timer_delete(timer_t timer)
{
    mr_thread *thread = mr_enter();
    int *number = signal_of(timer);
    if (thread != NULL && number != NULL) {
        *number = 0;
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
    return MR_REAL_VERSION(timer_delete, VERSION)(timer);
}
