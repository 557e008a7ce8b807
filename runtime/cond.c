/*
 * Condition variables are the runtime's own: a sleeper is a thread that is blocked with the
 * condition variable as its key, and the real object is never waited on.
 */
#include "cond.h"

#include "clocks.h"
#include "explore.h"
#include "mutex.h"
#include "qt.h"
#include "real.h"
#include "scheduler.h"
#include "shared_maps.h"
#include "steer.h"
#include "thread.h"
#include "writer.h"

#include <errno.h>

#define VERSION "GLIBC_2.3.2"

/* Those of another process wait on the real object; which then only that process and the kernel
 * know. */
static bool is_shared(const pthread_cond_t *cond)
{
    return (cond->__data.__wrefs & 1) != 0;
}

int mr_cond_wait_with(mr_thread *thread, const void *cond, const mr_cond_mutex *its, int64_t limit,
                      uintptr_t code)
{
    if (its->cancels) {
        mr_thread_cancel_point(thread);
    }
    uint64_t number = ++mr_rt.sleep_numbers | its->sized;
    if (limit != MR_NEVER) {
        mr_explore_choice(MR_LOG_CHOICE_TIMED, MR_LOG_ROLE_ASLEEP, cond, code, 0);
    }
    mr_write_object(MR_LOG_POST, MR_LOG_ROLE_ASLEEP, cond, code, 1, number);
    int status = its->unlock(its->mutex, code);
    if (status != 0) {
        mr_write_object(MR_LOG_WAIT, MR_LOG_ROLE_ASLEEP, cond, code, 1, number);
        return status;
    }
    thread->number = number;
    mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_WAKE, cond, code, 0, number);
    mr_wake_reason reason = mr_block(thread, cond, limit, its->cancels);
    thread->missed_signal = false; /* waits that follow are no longer this one */
    if (reason == MR_CANCELLED) {
        mr_thread_cancel_seen(thread);
    }
    mr_write_object(MR_LOG_WAIT, reason == MR_WOKEN ? MR_LOG_ROLE_WAKE : MR_LOG_ROLE_ASLEEP, cond,
                    code, 1, number);
    if (reason == MR_INTERRUPTED) {
        mr_attend(thread); /* and comes back without a signal */
    }
    bool cancel_async = thread->cancel_async;
    thread->cancel_async = false; /* a thread that is cancelled here has the mutex first */
    status = its->lock(thread, its->mutex, code);
    thread->cancel_async = cancel_async;
    if (reason == MR_CANCELLED) {
        mr_thread_cancel_point(thread);
    }
    return status != 0 ? status : reason == MR_TIMED_OUT ? ETIMEDOUT : 0;
}

static int unlock_mutex(void *mutex, uintptr_t code)
{
    return mr_mutex_unlock(mutex, code);
}

static int lock_mutex(mr_thread *thread, void *mutex, uintptr_t code)
{
    return mr_mutex_lock(thread, mutex, MR_NEVER, code);
}

int mr_cond_wait(mr_thread *thread, pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t limit,
                 uintptr_t code)
{
    mr_cond_mutex its = {mutex, 0, unlock_mutex, lock_mutex, true};
    return mr_cond_wait_with(thread, cond, &its, limit, code);
}

/* Wakes one sleeper; false: there is none. */
static bool wake_one(const void *cond, uintptr_t code)
{
    mr_thread *sleeper = mr_choose_blocked(cond);
    if (sleeper == NULL) {
        return false;
    }
    mr_write_object(MR_LOG_WAIT, MR_LOG_ROLE_ASLEEP, cond, code, 1, sleeper->number);
    mr_write_object(MR_LOG_POST, MR_LOG_ROLE_WAKE, cond, code, 1, sleeper->number);
    mr_wake(sleeper, MR_WOKEN);
    return true;
}

/* A replay: in the recording this call woke nobody, or nobody more. Those who are asleep here are awake after it, but do not run
 * before another call woke them in the recording. So they are left asleep until then; when threads run by the seed again, they
 * wake up without a call. */
static bool leaves_asleep(const mr_thread *thread, const void *cond)
{
    if (!mr_steers() || mr_steer_expects(thread, MR_LOG_WAIT) != 0) {
        return false;
    }
    const void *key = mr_shared_maps_first(cond);
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        t->missed_signal = t->missed_signal || (t->state == MR_BLOCKED && t->key == key);
    }
    return true;
}

int mr_cond_signal(mr_thread *thread, const void *cond, bool all, uintptr_t code)
{
    mr_yield(thread);
    mr_explore_choice(all ? MR_LOG_CHOICE_BROADCAST : MR_LOG_CHOICE_SIGNAL, MR_LOG_ROLE_ASLEEP,
                      cond, code, 0);
    if (leaves_asleep(thread, cond) || !wake_one(cond, code)) {
        mr_write_object(MR_LOG_USED, MR_LOG_ROLE_ASLEEP, cond, code, 0, 0);
        return 0;
    }
    while (all && !leaves_asleep(thread, cond) && wake_one(cond, code)) {
    }
    return 0;
}

/* A real wait with a mutex that is logged. */
typedef struct real_wait {
    mr_thread *thread;
    pthread_mutex_t *mutex;
    uintptr_t code;
    bool returned; /* else the thread was cancelled and unwinds, with the mutex */
} real_wait;

static void end_real_wait(real_wait *wait)
{
    mr_outside_end(wait->thread);
    mr_rt.real_waits--;
    if (!wait->returned) {
        mr_thread_cancel_unwinds(wait->thread);
    } else if (mr_steers()) {
        mr_steer_stop(wait->thread, MR_STOP_CALL);
    }
    mr_write_object(MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, wait->mutex, wait->code, 0, 0);
    if (!wait->returned) {
        mr_leave(wait->thread);
    }
}

static int shared_wait(mr_thread *thread, pthread_cond_t *cond, pthread_mutex_t *mutex,
                       clockid_t clock, const struct timespec *at, uintptr_t code)
{
    mr_write_object(MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, mutex, code, 0, 0);
    mr_wake_key(mutex);
    mr_rt.real_waits++;
    struct timespec real;
    if (at != NULL) {
        real = mr_clock_real_time(clock, at);
    }
    real_wait wait __attribute__((cleanup(end_real_wait))) = {thread, mutex, code, false};
    mr_outside_begin(thread);
    int status = at == NULL ? MR_REAL_VERSION(pthread_cond_wait, VERSION)(cond, mutex)
                            : MR_REAL(pthread_cond_clockwait)(cond, mutex, clock, &real);
    wait.returned = true;
    return status;
}

static int wait_until(mr_thread *thread, pthread_cond_t *cond, pthread_mutex_t *mutex,
                      clockid_t clock, const struct timespec *at, uintptr_t code)
{
    int status;
    if (!mr_is_end(clock, at)) {
        status = EINVAL;
    } else if (is_shared(cond)) {
        status = shared_wait(thread, cond, mutex, clock, at, code);
    } else {
        mr_yield(thread);
        status = mr_cond_wait(thread, cond, mutex, mr_limit_at(clock, at), code);
    }
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL_VERSION(pthread_cond_wait, VERSION)(cond, mutex);
    }
    return wait_until(thread, cond, mutex, CLOCK_REALTIME, NULL, mr_code_of(thread, MR_CALLER));
}

MR_EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                                     const struct timespec *restrict at)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL_VERSION(pthread_cond_timedwait, VERSION)(cond, mutex, at);
    }
    clockid_t clock = (cond->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    return wait_until(thread, cond, mutex, clock, at, MR_CALLER);
}

MR_EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                                     clockid_t clock, const struct timespec *restrict at)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_cond_clockwait)(cond, mutex, clock, at);
    }
    return wait_until(thread, cond, mutex, clock, at, MR_CALLER);
}

MR_EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL || is_shared(cond)) {
        if (thread != NULL) {
            mr_leave(thread);
        }
        return MR_REAL_VERSION(pthread_cond_signal, VERSION)(cond);
    }
    int status = mr_cond_signal(thread, cond, false, mr_code_of(thread, MR_CALLER));
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL || is_shared(cond)) {
        if (thread != NULL) {
            mr_leave(thread);
        }
        return MR_REAL_VERSION(pthread_cond_broadcast, VERSION)(cond);
    }
    mr_qt_wakes(thread, MR_CALLER);
    int status = mr_cond_signal(thread, cond, true, mr_code_of(thread, MR_CALLER));
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_cond_init(pthread_cond_t *restrict cond,
                                const pthread_condattr_t *restrict attributes)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL_VERSION(pthread_cond_init, VERSION)(cond, attributes);
    mr_mutex_retire(thread, MR_LOG_ROLE_ASLEEP, cond, MR_LOG_RETIRED_INITIALISED, MR_CALLER);
    return status;
}

MR_EXPORT int pthread_cond_destroy(pthread_cond_t *cond)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL_VERSION(pthread_cond_destroy, VERSION)(cond);
    mr_mutex_retire(thread, MR_LOG_ROLE_ASLEEP, cond, MR_LOG_RETIRED_DESTROYED, MR_CALLER);
    return status;
}
