/* C11 threads: glibc's objects are those of pthreads, so the work is done there. */
#include "clocks.h"
#include "cond.h"
#include "mutex.h"
#include "real.h"
#include "scheduler.h"
#include "thread.h"

#include <errno.h>
#include <threads.h>

static int result_of(int status)
{
    switch (status) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    case ENOMEM:
    case EAGAIN:
        return thrd_nomem;
    default:
        return thrd_error;
    }
}

MR_EXPORT int mtx_lock(mtx_t *mutex)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(mtx_lock)(mutex);
    }
    mr_yield(thread);
    int status = mr_mutex_lock(thread, (pthread_mutex_t *)mutex, MR_NEVER, MR_CALLER);
    mr_leave(thread);
    return result_of(status);
}

MR_EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict at)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(mtx_timedlock)(mutex, at);
    }
    mr_yield(thread);
    int status =
        mr_mutex_lock_until(thread, (pthread_mutex_t *)mutex, CLOCK_REALTIME, at, MR_CALLER);
    mr_leave(thread);
    return result_of(status);
}

MR_EXPORT int mtx_trylock(mtx_t *mutex)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(mtx_trylock)(mutex);
    }
    mr_yield(thread);
    int status = mr_mutex_try((pthread_mutex_t *)mutex, MR_CALLER);
    mr_leave(thread);
    return result_of(status);
}

MR_EXPORT int mtx_unlock(mtx_t *mutex)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(mtx_unlock)(mutex);
    }
    mr_yield(thread);
    int status = mr_mutex_unlock((pthread_mutex_t *)mutex, MR_CALLER);
    mr_leave(thread);
    return result_of(status);
}

MR_EXPORT int mtx_init(mtx_t *mutex, int type)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(mtx_init)(mutex, type);
    mr_mutex_retire(thread, MR_LOG_ROLE_MUTEX, mutex, MR_LOG_RETIRED_INITIALISED, MR_CALLER);
    return status;
}

MR_EXPORT void mtx_destroy(mtx_t *mutex)
{
    mr_thread *thread = mr_enter();
    MR_REAL(mtx_destroy)(mutex);
    mr_mutex_retire(thread, MR_LOG_ROLE_MUTEX, mutex, MR_LOG_RETIRED_DESTROYED, MR_CALLER);
}

MR_EXPORT int cnd_init(cnd_t *cond)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(cnd_init)(cond);
    mr_mutex_retire(thread, MR_LOG_ROLE_ASLEEP, cond, MR_LOG_RETIRED_INITIALISED, MR_CALLER);
    return status;
}

MR_EXPORT void cnd_destroy(cnd_t *cond)
{
    mr_thread *thread = mr_enter();
    MR_REAL(cnd_destroy)(cond);
    mr_mutex_retire(thread, MR_LOG_ROLE_ASLEEP, cond, MR_LOG_RETIRED_DESTROYED, MR_CALLER);
}

static int wait_until(mr_thread *thread, cnd_t *cond, mtx_t *mutex, const struct timespec *at,
                      uintptr_t code)
{
    int status = EINVAL;
    if (mr_is_end(CLOCK_REALTIME, at)) {
        mr_yield(thread);
        status = mr_cond_wait(thread, (pthread_cond_t *)cond, (pthread_mutex_t *)mutex,
                              mr_limit_at(CLOCK_REALTIME, at), code);
    }
    mr_leave(thread);
    return result_of(status);
}

MR_EXPORT int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    mr_thread *thread = mr_enter();
    return thread == NULL ? MR_REAL(cnd_wait)(cond, mutex)
                          : wait_until(thread, cond, mutex, NULL, MR_CALLER);
}

MR_EXPORT int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
                            const struct timespec *restrict at)
{
    mr_thread *thread = mr_enter();
    return thread == NULL ? MR_REAL(cnd_timedwait)(cond, mutex, at)
                          : wait_until(thread, cond, mutex, at, MR_CALLER);
}

static int signal_cond(mr_thread *thread, cnd_t *cond, bool all, uintptr_t code)
{
    int status = mr_cond_signal(thread, (pthread_cond_t *)cond, all, code);
    mr_leave(thread);
    return result_of(status);
}

MR_EXPORT int cnd_signal(cnd_t *cond)
{
    mr_thread *thread = mr_enter();
    return thread == NULL ? MR_REAL(cnd_signal)(cond) : signal_cond(thread, cond, false, MR_CALLER);
}

MR_EXPORT int cnd_broadcast(cnd_t *cond)
{
    mr_thread *thread = mr_enter();
    return thread == NULL ? MR_REAL(cnd_broadcast)(cond)
                          : signal_cond(thread, cond, true, MR_CALLER);
}

/* A start routine of C11 returns an int; glibc's threads keep it in the pointer. */
typedef union start_routine {
    thrd_start_t c11;
    void *(*posix)(void *);
} start_routine;

MR_EXPORT int thrd_create(thrd_t *handle, thrd_start_t start, void *argument)
{
    if (mr_self == NULL) {
        return MR_REAL(thrd_create)(handle, start, argument);
    }
    start_routine either = {.c11 = start};
    return result_of(mr_thread_create(handle, NULL, either.posix, argument, MR_CALLER));
}

MR_EXPORT int thrd_join(thrd_t handle, int *result)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(thrd_join)(handle, result);
    }
    void *value = NULL;
    int status = mr_thread_join(handle, &value, MR_NEVER, ETIMEDOUT, MR_CALLER);
    if (status == 0 && result != NULL) {
        *result = (int)(intptr_t)value;
    }
    mr_leave(thread);
    return result_of(status);
}

MR_EXPORT int thrd_detach(thrd_t handle)
{
    return result_of(pthread_detach(handle));
}

MR_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
    pthread_once((pthread_once_t *)flag, routine);
}
