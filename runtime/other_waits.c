/* Waiting for children and signals: always outside. */
#include "channels.h"
#include "outside.h"
#include "real.h"
#include "signals.h"
#include "waits.h"
#include "writer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "direct.h"

/* Of a set, as the kernel has it; the rest of libc's says nothing. */
enum { SIGNALS_BYTES = 8 };

/* Who waited for a signal comes after those who sent it. */
static void after_signal(int number, uintptr_t code)
{
    mr_thread *thread = number > 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_SIGNAL, (void *)(intptr_t)number, code, 0, 0);
        if (number == SIGCHLD) {
            mr_outside_hear(code);
        }
        mr_leave(thread);
    }
}

/* A call that waits without the baton, and what it writes. */
#define WAITS(type, name, parameters, arguments, written, bytes)                                   \
    MR_EXPORT type name parameters                                                                 \
    {                                                                                              \
        mr_thread *thread = mr_wait_begin();                                                       \
        type result;                                                                               \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        MR_CALL(thread, false, result = MR_REAL(name) arguments);                                  \
        mr_wait_end_if(result >= 0, written, (size_t)(bytes), MR_CALLER);                          \
        return result;                                                                             \
    }
WAITS(int, pause, (void), (), (void *)NULL, 0)
WAITS(int, sigsuspend, (const sigset_t *mask), (mask), (void *)NULL, 0)
#undef WAITS

/* The child of it comes after what was done before, and has ended. */
MR_EXPORT int system(const char *command)
{
    mr_thread *thread = mr_wait_begin();
    int result;
    if (thread == NULL) {
        return MR_REAL(system)(command);
    }
    mr_channels_inherited(MR_CALLER);
    MR_CALL(thread, false, result = MR_REAL(system)(command));
    int saved_errno = errno;
    if ((thread = mr_enter()) != NULL) {
        mr_outside_hear(MR_CALLER);
        mr_leave(thread);
    }
    errno = saved_errno;
    return result;
}

/* Who learns that a child has ended comes after those who made it, and who sent it a signal: as a handler of SIGCHLD does. */
#define WAITS_FOR_CHILD(type, name, parameters, arguments, written, bytes, learns)                 \
    MR_EXPORT type name parameters                                                                 \
    {                                                                                              \
        mr_thread *thread = mr_wait_begin();                                                       \
        type result;                                                                               \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        MR_CALL(thread, false, result = MR_REAL(name) arguments);                                  \
        mr_wait_end_if(result >= 0, written, (size_t)(bytes), MR_CALLER);                          \
        after_signal((learns) ? SIGCHLD : 0, MR_CALLER);                                           \
        return result;                                                                             \
    }
WAITS_FOR_CHILD(pid_t, wait, (int *status), (status), status, sizeof *status, result > 0)
WAITS_FOR_CHILD(pid_t, waitpid, (pid_t child, int *status, int options), (child, status, options),
                status, result > 0 ? sizeof *status : 0, result > 0)
WAITS_FOR_CHILD(int, waitid, (idtype_t type, id_t child, siginfo_t *info, int options),
                (type, child, info, options), info, sizeof *info, result == 0)
#undef WAITS_FOR_CHILD

MR_EXPORT pid_t wait4(pid_t child, int *status, int options, struct rusage *usage)
{
    mr_thread *thread = mr_wait_begin();
    pid_t result;
    if (thread == NULL) {
        return MR_REAL(wait4)(child, status, options, usage);
    }
    MR_CALL(thread, false, result = MR_REAL(wait4)(child, status, options, usage));
    mr_wait_end_if(result > 0, status, sizeof *status, MR_CALLER);
    mr_wait_end_if(result > 0, usage, sizeof *usage, MR_CALLER);
    after_signal(result > 0 ? SIGCHLD : 0, MR_CALLER);
    return result;
}

MR_EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
    mr_thread *thread = mr_wait_begin();
    pid_t result;
    if (thread == NULL) {
        return MR_REAL(wait3)(status, options, usage);
    }
    MR_CALL(thread, false, result = MR_REAL(wait3)(status, options, usage));
    mr_wait_end_if(result > 0, status, sizeof *status, MR_CALLER);
    mr_wait_end_if(result > 0, usage, sizeof *usage, MR_CALLER);
    after_signal(result > 0 ? SIGCHLD : 0, MR_CALLER);
    return result;
}

/* The set, and how long the caller waits, are read before the wait. */
static void log_asked(const mr_thread *thread, const sigset_t *set, const struct timespec *timeout,
                      uintptr_t code)
{
    if (thread != NULL && mr_is_instrumented(code)) {
        mr_memory_read(thread, set, SIGNALS_BYTES, code);
        mr_memory_read(thread, timeout, timeout != NULL ? sizeof *timeout : 0, code);
    }
}

#define WAITS_FOR_SIGNAL(name, parameters, arguments, written, number)                             \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_thread *thread = mr_wait_begin();                                                       \
        int result;                                                                                \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        log_asked(thread, set, NULL, MR_CALLER);                                                   \
        MR_CALL(thread, false, result = MR_REAL(name) arguments);                                  \
        mr_wait_end_if(result >= 0, written, sizeof *(written), MR_CALLER);                        \
        after_signal(result >= 0 ? (number) : 0, MR_CALLER);                                       \
        return result;                                                                             \
    }
WAITS_FOR_SIGNAL(sigwait, (const sigset_t *restrict set, int *restrict which), (set, which), which,
                 *which)
WAITS_FOR_SIGNAL(sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict info), (set, info),
                 info, result)
#undef WAITS_FOR_SIGNAL

static const struct timespec no_time;

/* Nobody has sent one of the signals when this says so: it is asked with the baton. */
static int take_pending(mr_thread *thread, const sigset_t *set, siginfo_t *info, uintptr_t code)
{
    int saved_errno = errno;
    int result = MR_REAL(sigtimedwait)(set, info, &no_time);
    if (result < 0 && errno == EAGAIN) {
        mr_signal_log_pending(set, code);
        mr_yield_to_others(thread);
    }
    errno = result < 0 ? errno : saved_errno;
    return result;
}

MR_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                           const struct timespec *restrict timeout)
{
    mr_thread *thread = mr_wait_begin();
    int result = -1;
    if (thread == NULL) {
        return MR_REAL(sigtimedwait)(set, info, timeout);
    }
    log_asked(thread, set, timeout, MR_CALLER);
    bool waits = timeout == NULL || timeout->tv_sec != 0 || timeout->tv_nsec != 0;
    if (waits) {
        MR_CALL(thread, false, result = MR_REAL(sigtimedwait)(set, info, timeout));
        thread = result < 0 && errno == EAGAIN ? mr_enter() : NULL;
    }
    if (thread != NULL) {
        result = take_pending(thread, set, info, MR_CALLER);
        mr_leave(thread);
    }
    int saved_errno = errno;
    mr_wait_end_if(result >= 0, info, sizeof *info, MR_CALLER);
    after_signal(result, MR_CALLER);
    errno = saved_errno;
    return result;
}

/* Also by syscall(). */
MR_DIRECT(wait4)
