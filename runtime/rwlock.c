/* Read-write locks and spin locks: by trying, as mutexes (mutex.h). */
#include "clocks.h"
#include "explore.h"
#include "mutex.h"
#include "real.h"
#include "scheduler.h"
#include "steer.h"
#include "thread.h"
#include "writer.h"

#include <errno.h>

typedef enum mode { READ, WRITE } mode;

static int try_now(pthread_rwlock_t *lock, mode how, unsigned tried, uintptr_t code)
{
    int status = how == READ ? MR_REAL(pthread_rwlock_tryrdlock)(lock)
                             : MR_REAL(pthread_rwlock_trywrlock)(lock);
    if (status == 0) {
        mr_write_object(how == READ ? MR_LOG_SHARED_ACQUIRE : MR_LOG_ACQUIRE, MR_LOG_ROLE_RWLOCK,
                        lock, code, tried, 0);
    }
    return status;
}

/* The thread that has it for writing cannot have it again: the real function says so at once. */
static bool is_writer(const mr_thread *thread, const pthread_rwlock_t *lock)
{
    return lock->__data.__cur_writer == thread->kernel_id;
}

static int lock_until(mr_thread *thread, pthread_rwlock_t *lock, mode how, clockid_t clock,
                      const struct timespec *at, uintptr_t code)
{
    int64_t limit = mr_limit_at(clock, at);
    if (!mr_is_end(clock, at)) { /* glibc looks at it first */
        return EINVAL;
    }
    mr_yield(thread);
    for (;;) {
        int status = try_now(lock, how, limit == MR_NEVER ? 0 : MR_LOG_TRIED, code);
        if (status != EBUSY || is_writer(thread, lock)) {
            return status == EBUSY ? EDEADLK : status;
        }
        thread->polls = lock->__data.__shared != 0;
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_RWLOCK, lock, code,
                        mr_explore_wait(limit, how == READ), 0);
        mr_wake_reason reason = mr_block(thread, lock, limit, thread->cancel_async);
        if (reason == MR_TIMED_OUT) {
            mr_explore_failed(MR_LOG_ROLE_RWLOCK, lock, code, how == READ);
            return ETIMEDOUT;
        }
        if (reason == MR_INTERRUPTED) {
            mr_attend(thread);
        }
        if (reason == MR_CANCELLED) {
            mr_thread_cancel_point(thread);
        }
    }
}

/* One of the locking functions: `call` is the real one, by `clock` it gives up `at` then. */
#define DEFINE_LOCK(call, how, clock, at)                                                          \
    {                                                                                              \
        mr_thread *thread = mr_enter();                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL call;                                                                   \
        }                                                                                          \
        int status = lock_until(thread, lock, how, clock, at, MR_CALLER);                          \
        mr_leave(thread);                                                                          \
        return status;                                                                             \
    }

MR_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
    DEFINE_LOCK((pthread_rwlock_rdlock)(lock), READ, CLOCK_REALTIME, NULL)

        MR_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
            DEFINE_LOCK((pthread_rwlock_wrlock)(lock), WRITE, CLOCK_REALTIME, NULL)

                MR_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock,
                                                         const struct timespec *restrict at)
                    DEFINE_LOCK((pthread_rwlock_timedrdlock)(lock, at), READ, CLOCK_REALTIME, at)

                        MR_EXPORT
    int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock,
                                   const struct timespec *restrict at)
        DEFINE_LOCK((pthread_rwlock_timedwrlock)(lock, at), WRITE, CLOCK_REALTIME, at)

            MR_EXPORT
    int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                   const struct timespec *restrict at)
        DEFINE_LOCK((pthread_rwlock_clockrdlock)(lock, clock, at), READ, clock, at)

            MR_EXPORT
    int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                   const struct timespec *restrict at)
        DEFINE_LOCK((pthread_rwlock_clockwrlock)(lock, clock, at), WRITE, clock, at)
#undef DEFINE_LOCK

            static int try_lock(mr_thread *thread, pthread_rwlock_t *lock, mode how, uintptr_t code)
{
    mr_yield(thread);
    mr_log_kind kind = how == READ ? MR_LOG_SHARED_ACQUIRE : MR_LOG_ACQUIRE;
    int status = EBUSY; /* as it was recorded */
    if (!mr_steers() || mr_steer_expects(thread, kind) != 0) {
        status = try_now(lock, how, MR_LOG_TRIED, code);
    }
    if (status == EBUSY) {
        mr_explore_failed(MR_LOG_ROLE_RWLOCK, lock, code, how == READ);
    }
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    mr_thread *thread = mr_enter();
    return thread == NULL ? MR_REAL(pthread_rwlock_tryrdlock)(lock)
                          : try_lock(thread, lock, READ, MR_CALLER);
}

MR_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    mr_thread *thread = mr_enter();
    return thread == NULL ? MR_REAL(pthread_rwlock_trywrlock)(lock)
                          : try_lock(thread, lock, WRITE, MR_CALLER);
}

MR_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_rwlock_unlock)(lock);
    }
    mr_yield(thread);
    mr_log_kind kind = is_writer(thread, lock) ? MR_LOG_RELEASE : MR_LOG_SHARED_RELEASE;
    int status = MR_REAL(pthread_rwlock_unlock)(lock);
    if (status == 0) {
        mr_write_object(kind, MR_LOG_ROLE_RWLOCK, lock, MR_CALLER, 0, 0);
        mr_wake_key(lock);
    }
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_rwlock_init(pthread_rwlock_t *restrict lock,
                                  const pthread_rwlockattr_t *restrict attributes)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(pthread_rwlock_init)(lock, attributes);
    mr_mutex_retire(thread, MR_LOG_ROLE_RWLOCK, lock, MR_LOG_RETIRED_INITIALISED, MR_CALLER);
    return status;
}

MR_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(pthread_rwlock_destroy)(lock);
    mr_mutex_retire(thread, MR_LOG_ROLE_RWLOCK, lock, MR_LOG_RETIRED_DESTROYED, MR_CALLER);
    return status;
}

MR_EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(pthread_spin_init)(lock, shared);
    mr_mutex_retire(thread, MR_LOG_ROLE_SPIN, lock, MR_LOG_RETIRED_INITIALISED, MR_CALLER);
    return status;
}

MR_EXPORT int pthread_spin_destroy(pthread_spinlock_t *lock)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(pthread_spin_destroy)(lock);
    mr_mutex_retire(thread, MR_LOG_ROLE_SPIN, lock, MR_LOG_RETIRED_DESTROYED, MR_CALLER);
    return status;
}

static int spin_try(pthread_spinlock_t *lock, unsigned tried, uintptr_t code)
{
    int status = MR_REAL(pthread_spin_trylock)(lock);
    if (status == 0) {
        mr_write_object(MR_LOG_ACQUIRE, MR_LOG_ROLE_SPIN, (const void *)lock, code, tried, 0);
    }
    return status;
}

MR_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_spin_lock)(lock);
    }
    int status;
    mr_yield(thread);
    while ((status = spin_try(lock, 0, MR_CALLER)) == EBUSY) {
        mr_explore_spins(lock, MR_CALLER);
        thread->polls = true; /* it does not say whether other processes use it */
        if (mr_block(thread, (const void *)lock, MR_NEVER, false) == MR_INTERRUPTED) {
            mr_attend(thread);
        }
    }
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_spin_trylock)(lock);
    }
    mr_yield(thread);
    int status = EBUSY; /* as it was recorded */
    if (!mr_steers() || mr_steer_expects(thread, MR_LOG_ACQUIRE) != 0) {
        status = spin_try(lock, MR_LOG_TRIED, MR_CALLER);
    }
    if (status == EBUSY) {
        mr_explore_failed(MR_LOG_ROLE_SPIN, lock, MR_CALLER, false);
    }
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_spin_unlock)(lock);
    }
    mr_yield(thread);
    mr_write_object(MR_LOG_RELEASE, MR_LOG_ROLE_SPIN, (const void *)lock, MR_CALLER, 0, 0);
    int status = MR_REAL(pthread_spin_unlock)(lock);
    mr_wake_key((const void *)lock);
    mr_leave(thread);
    return status;
}
