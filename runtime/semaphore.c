/* Semaphores: the units are in the real object, who finds none waits in the runtime. */
#include "semaphore.h"

#include "clocks.h"
#include "explore.h"
#include "memory.h"
#include "modules.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"
#include "steer.h"
#include "thread.h"
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

enum { POSTS_MAX = 1 << 20, COUNT_MAX = 65535 };

/* What a call reads beside the semaphore, for the caller at `code`. */
static void log_read(const mr_thread *thread, const void *from, size_t bytes, uintptr_t code)
{
    if (from != NULL && mr_is_instrumented(code)) {
        mr_memory_read(thread, from, bytes, code);
    }
}

static void log_posts(sem_t *semaphore, uint64_t units, uintptr_t code)
{
    for (units = units < POSTS_MAX ? units : POSTS_MAX; units > 0;) {
        unsigned count = units < COUNT_MAX ? (unsigned)units : COUNT_MAX;
        mr_write_object(MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, semaphore, code, count, 0);
        units -= count;
    }
}

MR_EXPORT int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(sem_init)(semaphore, shared, value);
    if (thread != NULL) {
        if (status == 0) {
            mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_SEMAPHORE, semaphore, MR_CALLER,
                            MR_LOG_RETIRED_INITIALISED, 0);
            log_posts(semaphore, value, MR_CALLER);
        }
        mr_leave(thread);
    }
    return status;
}

MR_EXPORT int sem_destroy(sem_t *semaphore)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(sem_destroy)(semaphore);
    if (thread != NULL) {
        if (status == 0) {
            mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_SEMAPHORE, semaphore, MR_CALLER,
                            MR_LOG_RETIRED_DESTROYED, 0);
        }
        mr_leave(thread);
    }
    return status;
}

/* One that is open already is at the same address, and its units are known. */
enum { OPEN_MAX = 64 };
static sem_t *open_semaphores[OPEN_MAX];

static bool seen_open(sem_t *semaphore)
{
    size_t i = 0;
    while (i < OPEN_MAX && open_semaphores[i] != NULL) {
        if (open_semaphores[i++] == semaphore) {
            return true;
        }
    }
    if (i < OPEN_MAX) {
        open_semaphores[i] = semaphore;
    }
    return false;
}

MR_EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t permissions = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    unsigned value = (flags & O_CREAT) != 0 ? va_arg(arguments, unsigned) : 0;
    va_end(arguments);
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        log_read(thread, name, strlen(name) + 1, MR_CALLER);
    }
    sem_t *semaphore = MR_REAL(sem_open)(name, flags, permissions, value);
    if (thread != NULL) {
        int units = 0;
        if (semaphore != SEM_FAILED && !seen_open(semaphore) &&
            MR_REAL(sem_getvalue)(semaphore, &units) == 0) {
            mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_SEMAPHORE, semaphore, MR_CALLER,
                            MR_LOG_RETIRED_KNOWN, 0);
            log_posts(semaphore, units > 0 ? (uint64_t)units : 0, MR_CALLER);
        }
        mr_leave(thread);
    }
    return semaphore;
}

void mr_semaphore_log_asked(const sem_t *semaphore, uintptr_t code)
{
    mr_write_object(MR_LOG_USED, MR_LOG_ROLE_SEMAPHORE, semaphore, code, MR_LOG_USED_ASKED, 0);
}

MR_EXPORT int sem_post(sem_t *semaphore)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(sem_post)(semaphore);
    }
    mr_yield(thread);
    int status = MR_REAL(sem_post)(semaphore);
    if (status == 0) {
        log_posts(semaphore, 1, MR_CALLER);
        mr_wake_key(semaphore);
    }
    mr_leave(thread);
    return status;
}

/* glibc keeps it in the third word of a semaphore. */
static bool is_shared(const sem_t *semaphore)
{
    return ((const int32_t *)semaphore)[2] != 0;
}

/* 0, or the errno. */
static int try_now(sem_t *semaphore, bool tries, uintptr_t code)
{
    if (MR_REAL(sem_trywait)(semaphore) != 0) {
        return errno;
    }
    if (tries) {
        mr_explore_choice(MR_LOG_CHOICE_TRY, MR_LOG_ROLE_SEMAPHORE, semaphore, code, 0);
    }
    mr_write_object(MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, semaphore, code, 1, 0);
    return 0;
}

static int wait_until(mr_thread *thread, sem_t *semaphore, clockid_t clock,
                      const struct timespec *at, uintptr_t code)
{
    int saved_errno = errno;
    int status;
    int64_t limit = mr_limit_at(clock, at);
    log_read(thread, at, sizeof *at, code);
    if (!mr_is_end(clock, at)) { /* glibc looks at it first */
        mr_leave(thread);
        errno = EINVAL;
        return -1;
    }
    mr_yield(thread);
    mr_thread_cancel_point(thread);
    while ((status = try_now(semaphore, limit != MR_NEVER, code)) == EAGAIN) {
        thread->polls = is_shared(semaphore);
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_SEMAPHORE, semaphore, code,
                        mr_explore_wait(limit, false), 0);
        mr_wake_reason reason = mr_block(thread, semaphore, limit, true);
        if (reason == MR_TIMED_OUT) {
            mr_explore_failed(MR_LOG_ROLE_SEMAPHORE, semaphore, code, false);
            status = ETIMEDOUT;
            break;
        }
        if (reason == MR_CANCELLED) {
            mr_thread_cancel_point(thread);
        }
        if (reason == MR_INTERRUPTED) {
            mr_attend(thread);
            if (!mr_signals_restart()) {
                status = EINTR;
                break;
            }
        }
    }
    mr_leave(thread);
    errno = status == 0 ? saved_errno : status;
    return status == 0 ? 0 : -1;
}

MR_EXPORT int sem_wait(sem_t *semaphore)
{
    mr_thread *thread = mr_enter();
    return thread == NULL ? MR_REAL(sem_wait)(semaphore)
                          : wait_until(thread, semaphore, CLOCK_REALTIME, NULL, MR_CALLER);
}

MR_EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict at)
{
    mr_thread *thread = mr_enter();
    return thread == NULL ? MR_REAL(sem_timedwait)(semaphore, at)
                          : wait_until(thread, semaphore, CLOCK_REALTIME, at, MR_CALLER);
}

MR_EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                            const struct timespec *restrict at)
{
    mr_thread *thread = mr_enter();
    return thread == NULL ? MR_REAL(sem_clockwait)(semaphore, clock, at)
                          : wait_until(thread, semaphore, clock, at, MR_CALLER);
}

MR_EXPORT int sem_trywait(sem_t *semaphore)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(sem_trywait)(semaphore);
    }
    int saved_errno = errno;
    mr_yield(thread);
    int status = EAGAIN; /* as it was recorded */
    if (!mr_steers() || mr_steer_expects(thread, MR_LOG_WAIT) != 0) {
        status = try_now(semaphore, true, MR_CALLER);
    }
    if (status == EAGAIN) {
        mr_explore_failed(MR_LOG_ROLE_SEMAPHORE, semaphore, MR_CALLER, false);
    }
    mr_leave(thread);
    errno = status == 0 ? saved_errno : status;
    return status == 0 ? 0 : -1;
}
