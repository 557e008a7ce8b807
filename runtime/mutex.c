#include "mutex.h"

#include "clocks.h"
#include "explore.h"
#include "real.h"
#include "scheduler.h"
#include "steer.h"
#include "sys.h"
#include "thread.h"
#include "writer.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>

/* glibc: the kind's lower bits are the type; bit 7 says that other processes use it, bit 6 that it has a
 * priority ceiling, bit 4 robust. */
enum {
    KIND_MASK = 3,
    KIND_RECURSIVE = 1,
    KIND_ERRORCHECK = 2,
    KIND_CEILING = 64,
    KIND_SHARED = 128
};

static bool is_errorcheck(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & KIND_MASK) == KIND_ERRORCHECK;
}

/* EINVAL of such a mutex says that the thread's priority does not fit. */
static bool has_ceiling(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind >= 0 && (mutex->__data.__kind & KIND_CEILING) != 0;
}

static bool log_acquired(int status, pthread_mutex_t *mutex, unsigned tried, uintptr_t code)
{
    if (status == 0 || status == EOWNERDEAD) {
        unsigned died = status == EOWNERDEAD ? MR_LOG_OWNER_DIED : 0;
        mr_write_object(MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, mutex, code, tried | died, 0);
        return true;
    }
    return false;
}

/* What cannot be locked or unlocked, because it was destroyed or never was a mutex, or is lost with its owner. */
static void log_refused(int status, const pthread_mutex_t *mutex, uintptr_t code)
{
    if (status == ENOTRECOVERABLE) {
        mr_write_object(MR_LOG_USED, MR_LOG_ROLE_MUTEX, mutex, code, MR_LOG_USED_LOST, 0);
    }
    if (status == EINVAL && !has_ceiling(mutex)) {
        mr_write_object(MR_LOG_USED, MR_LOG_ROLE_MUTEX, mutex, code, MR_LOG_USED_REFUSED, 0);
    }
}

/* glibc's trylock leaves the word of a lost robust mutex in the name of the caller, its lock does not: another lock would wait for
 * ever, and an unlock would use links of a list that the mutex is not in. */
static void leave_lost(pthread_mutex_t *mutex, const mr_thread *thread)
{
    int *lock = &mutex->__data.__lock, word = __atomic_load_n(lock, __ATOMIC_RELAXED);
    while ((word & FUTEX_TID_MASK) == thread->kernel_id) {
        if (__atomic_compare_exchange_n(lock, &word, 0, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
            if ((word & (int)FUTEX_WAITERS) != 0) {
                mr_sys(SYS_futex, (long)lock, FUTEX_WAKE, 1, 0, 0, 0);
            }
            return;
        }
    }
}

int mr_mutex_lock(mr_thread *thread, pthread_mutex_t *mutex, int64_t limit, uintptr_t code)
{
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL); /* after a wait on a condition variable */
    }
    for (;;) {
        int status = MR_REAL(pthread_mutex_trylock)(mutex);
        if (log_acquired(status, mutex, limit == MR_NEVER ? 0 : MR_LOG_TRIED, code) ||
            status != EBUSY) {
            if (status == ENOTRECOVERABLE) {
                leave_lost(mutex, thread);
            }
            log_refused(status, mutex, code);
            return status;
        }
        if (is_errorcheck(mutex) && mutex->__data.__owner == thread->kernel_id) {
            return EDEADLK;
        }
        thread->polls = (mutex->__data.__kind & KIND_SHARED) != 0 || mr_rt.real_waits != 0;
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_MUTEX, mutex, code,
                        mr_explore_wait(limit, false), 0);
        mr_wake_reason reason = mr_block(thread, mutex, limit, thread->cancel_async);
        if (reason == MR_TIMED_OUT) {
            mr_explore_failed(MR_LOG_ROLE_MUTEX, mutex, code, false);
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

int mr_mutex_lock_until(mr_thread *thread, pthread_mutex_t *mutex, clockid_t clock,
                        const struct timespec *at, uintptr_t code)
{
    if (!mr_ends_waits(clock)) { /* glibc looks at the clock first, and at the time when it waits */
        return EINVAL;
    }
    if (mr_is_end(clock, at)) {
        return mr_mutex_lock(thread, mutex, mr_limit_at(clock, at), code);
    }
    int status = mr_mutex_try(mutex, code);
    if (status != EBUSY) {
        return status;
    }
    return is_errorcheck(mutex) && mutex->__data.__owner == thread->kernel_id ? EDEADLK : EINVAL;
}

int mr_mutex_try(pthread_mutex_t *mutex, uintptr_t code)
{
    if (mr_steers() && mr_steer_expects(mr_self, MR_LOG_ACQUIRE) == 0) {
        mr_explore_failed(MR_LOG_ROLE_MUTEX, mutex, code, false);
        return EBUSY; /* as it was recorded */
    }
    int status = MR_REAL(pthread_mutex_trylock)(mutex);
    if (!log_acquired(status, mutex, MR_LOG_TRIED, code) && status == EBUSY) {
        mr_explore_failed(MR_LOG_ROLE_MUTEX, mutex, code, false);
    }
    log_refused(status, mutex, code);
    return status;
}

void mr_mutex_retire(mr_thread *thread, mr_log_role role, const volatile void *object,
                     mr_log_retired how, uintptr_t code)
{
    if (thread != NULL) {
        mr_write_object(MR_LOG_RETIRED, role, (const void *)object, code, how, 0);
        mr_leave(thread);
    }
}

int mr_mutex_unlock(pthread_mutex_t *mutex, uintptr_t code)
{
    int status = MR_REAL(pthread_mutex_unlock)(mutex);
    if (status == 0) {
        mr_write_object(MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, mutex, code, 0, 0);
        mr_wake_key(mutex);
    }
    /* The errors of an error-checking mutex are what the program asks for. Another process may hold a shared one. */
    if (status == EPERM && !is_errorcheck(mutex) && (mutex->__data.__kind & KIND_SHARED) == 0) {
        mr_write_object(MR_LOG_USED, MR_LOG_ROLE_MUTEX, mutex, code, MR_LOG_USED_NOT_HELD, 0);
    }
    log_refused(status, mutex, code);
    return status;
}

/* Marks the mutex, and wakes one that waits for it in the kernel, as the kernel does: threads of other processes wait there.
 * False: it inherits priorities, and who waits in the kernel is to have it, which only the kernel can do. */
static bool leave_robust(pthread_mutex_t *mutex, bool inherits, const mr_thread *thread)
{
    int *lock = &mutex->__data.__lock, word = __atomic_load_n(lock, __ATOMIC_RELAXED), waiters;
    do {
        if ((word & FUTEX_TID_MASK) != thread->kernel_id) {
            return true;
        }
        waiters = word & (int)FUTEX_WAITERS;
        if (inherits && waiters != 0) {
            return false;
        }
    } while (!__atomic_compare_exchange_n(lock, &word, FUTEX_OWNER_DIED | waiters, true,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    bool is_recursive = (mutex->__data.__kind & KIND_MASK) == KIND_RECURSIVE;
    unsigned held = is_recursive ? mutex->__data.__count : 1;
    for (unsigned i = 0; i < held; i++) {
        mr_write_object(MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, mutex, 0, MR_LOG_BY_END, 0);
    }
    if (waiters != 0) {
        mr_sys(SYS_futex, (long)lock, FUTEX_WAKE, 1, 0, 0, 0);
    }
    mr_wake_key(mutex);
    return true;
}

/* The list is glibc's, of the mutexes from the last one taken on; bit 0 of a link says that the mutex inherits
 * priorities. One that is left to the kernel is so with all behind it. A program that has reused the memory of a mutex may have
 * broken the list; as in the kernel, it is followed no further than a limit. */
void mr_mutex_leave_robust(mr_thread *thread)
{
    struct robust_list_head *head = NULL;
    size_t bytes = 0;
    if (mr_sys(SYS_get_robust_list, 0, (long)&head, (long)&bytes, 0, 0, 0) != 0 || head == NULL) {
        return;
    }
    for (int i = 0; i < ROBUST_LIST_LIMIT; i++) {
        uintptr_t inherits = (uintptr_t)head->list.next & 1;
        struct robust_list *at = (void *)((char *)head->list.next - inherits);
        if (at == NULL || at == &head->list) {
            return;
        }
        struct robust_list *next = at->next;
        char *lock = (char *)at + head->futex_offset;
        if (!leave_robust(
                (pthread_mutex_t *)(void *)(lock - offsetof(pthread_mutex_t, __data.__lock)),
                inherits != 0, thread)) {
            return;
        }
        head->list.next = next;
    }
}

MR_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_mutex_lock)(mutex);
    }
    mr_yield(thread);
    int status = mr_mutex_lock(thread, mutex, MR_NEVER, MR_CALLER);
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
                                      const struct timespec *restrict at)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_mutex_timedlock)(mutex, at);
    }
    mr_yield(thread);
    int status = mr_mutex_lock_until(thread, mutex, CLOCK_REALTIME, at, MR_CALLER);
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                                      const struct timespec *restrict at)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_mutex_clocklock)(mutex, clock, at);
    }
    mr_yield(thread);
    int status = mr_mutex_lock_until(thread, mutex, clock, at, MR_CALLER);
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_mutex_trylock)(mutex);
    }
    mr_yield(thread);
    int status = mr_mutex_try(mutex, MR_CALLER);
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_mutex_unlock)(mutex);
    }
    mr_yield(thread);
    int status = mr_mutex_unlock(mutex, MR_CALLER);
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(pthread_mutex_consistent)(mutex);
    if (thread != NULL) {
        if (status == 0) {
            mr_write_object(MR_LOG_USED, MR_LOG_ROLE_MUTEX, mutex, MR_CALLER,
                            MR_LOG_USED_CONSISTENT, 0);
        }
        mr_leave(thread);
    }
    return status;
}

MR_EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(pthread_mutex_init)(mutex, attributes);
    mr_mutex_retire(thread, MR_LOG_ROLE_MUTEX, mutex, MR_LOG_RETIRED_INITIALISED, MR_CALLER);
    return status;
}

MR_EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(pthread_mutex_destroy)(mutex);
    mr_mutex_retire(thread, MR_LOG_ROLE_MUTEX, mutex,
                    status == 0 ? MR_LOG_RETIRED_DESTROYED : MR_LOG_RETIRED_REFUSED, MR_CALLER);
    return status;
}
