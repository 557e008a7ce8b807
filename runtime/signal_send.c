/* Sending signals. Whatever comes of it, the sender has done what it did. */
#include "inputs.h"
#include "outside.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"
#include "sys.h"
#include "thread.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Where what follows the words is in the text; NULL: they are not there. */
static const char *behind(const char *text, const char *words)
{
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (words[i] != '\0' && text[i] == words[i]) {
            i++;
        }
        if (words[i] == '\0') {
            return text + i;
        }
    }
    return NULL;
}

/* Does the thread block the signal? The kernel says its mask in hexadecimal. */
static bool is_blocked(const mr_thread *target, int number)
{
    char text[4096];
    uint64_t mask = 0;
    if (mr_read_task(target->kernel_id, "/status", text, sizeof text) <= 0) {
        return false;
    }
    const char *at = behind(text, "SigBlk:\t");
    for (; at != NULL && *at > ' '; at++) {
        mask = mask << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    }
    return (mask >> (number - 1) & 1) != 0;
}

/* The signal is with the other thread before anybody goes on, so that it does not depend on time
 * where it is handled. */
static void wait_for_arrival(mr_thread *target, uint32_t before, int number)
{
    const int PATIENCE_NS = 20000000, STEP_NS = 50000;
    int64_t start = mr_clock_ns(CLOCK_MONOTONIC);
    if (!mr_signal_has_handler(number)) {
        return;
    }
    while (__atomic_load_n(&target->arrived, __ATOMIC_ACQUIRE) == before) {
        mr_futex_wait(&target->arrived, before, STEP_NS);
        if (__atomic_load_n(&target->arrived, __ATOMIC_ACQUIRE) == before &&
            (is_blocked(target, number) || mr_clock_ns(CLOCK_MONOTONIC) - start > PATIENCE_NS)) {
            return;
        }
    }
    if (mr_signals_ready(target)) {
        mr_wake(target, MR_INTERRUPTED);
    }
}

MR_EXPORT int raise(int number)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(raise)(number);
    }
    thread->raising = true;
    mr_signal_caused(number, MR_CALLER);
    int status = MR_REAL(raise)(number);
    thread->raising = false;
    mr_leave(thread);
    return status;
}

/* To a thread of the program, which may be the caller. */
#define SENDS_TO_THREAD(name, parameters, arguments)                                               \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_thread *thread = mr_enter();                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        mr_thread *target = mr_thread_find(handle);                                                \
        uint32_t before = target != NULL ? target->arrived : 0;                                    \
        thread->raising = target == thread;                                                        \
        mr_signal_caused(number, MR_CALLER);                                                       \
        int status = MR_REAL(name) arguments;                                                      \
        if (status == 0 && target != NULL && target != thread) {                                   \
            wait_for_arrival(target, before, number);                                              \
        }                                                                                          \
        thread->raising = false;                                                                   \
        mr_leave(thread);                                                                          \
        return status;                                                                             \
    }
SENDS_TO_THREAD(pthread_kill, (pthread_t handle, int number), (handle, number))
SENDS_TO_THREAD(pthread_sigqueue, (pthread_t handle, int number, const union sigval value),
                (handle, number, value))
#undef SENDS_TO_THREAD

/* Do other processes get the signal? A group may have this one, too. */
typedef enum others { NONE, TOO, ONLY } others;

static others others_of(int64_t process)
{
    return process == getpid() ? NONE : process <= 0 ? TOO : ONLY;
}

/* To a process: to any thread that does not block it, so to this one when it is alone. */
#define SENDS_TO_PROCESS(name, parameters, arguments, ours, others)                                \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_thread *thread = mr_enter();                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        thread->raising = (ours) && mr_rt.alive == 1;                                              \
        mr_signal_caused((others) == ONLY ? 0 : number, MR_CALLER);                                \
        mr_signal_caused((others) == NONE ? 0 : SIGCHLD, MR_CALLER);                               \
        if ((others) != NONE) {                                                                    \
            mr_outside_tell(MR_CALLER);                                                            \
        }                                                                                          \
        int status = MR_REAL(name) arguments;                                                      \
        thread->raising = false;                                                                   \
        mr_leave(thread);                                                                          \
        return status;                                                                             \
    }
SENDS_TO_PROCESS(kill, (pid_t process, int number), ((pid_t)mr_inputs_process(process), number),
                 mr_inputs_process(process) == getpid(), others_of(mr_inputs_process(process)))
SENDS_TO_PROCESS(killpg, (pid_t group, int number), (group, number), false, TOO)
SENDS_TO_PROCESS(sigqueue, (pid_t process, int number, const union sigval value),
                 ((pid_t)mr_inputs_process(process), number, value),
                 mr_inputs_process(process) == getpid(), others_of(mr_inputs_process(process)))
#undef SENDS_TO_PROCESS

/* A call that sends a signal, as the kernel takes it: where in its arguments the numbers are, -1: it has none. */
typedef struct sending {
    long call;
    int process, thread, signal;
} sending;

static const sending *sending_of(long call)
{
    static const sending all[] = {
        {SYS_kill, 0, -1, 1},
        {SYS_tkill, -1, 0, 1},
        {SYS_tgkill, 0, 1, 2},
        {SYS_rt_sigqueueinfo, 0, -1, 1},
        {SYS_rt_tgsigqueueinfo, 0, 1, 2},
#ifdef SYS_pidfd_send_signal
        {SYS_pidfd_send_signal, -1, -1, 1},
#endif
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].call == call) {
            return &all[i];
        }
    }
    return NULL;
}

/* The thread that has this number for the program; a replay has told the program the recorded one. */
static mr_thread *thread_of(long number)
{
    mr_thread *at = mr_rt.threads;
    while (at != NULL && (at->told_id != 0 ? at->told_id : at->kernel_id) != number) {
        at = at->next;
    }
    return at;
}

/* To a thread of the program, or to processes, one of which may be this one. */
static long send_by(mr_thread *thread, const sending *of, long a[6], uintptr_t code)
{
    int number = (int)a[of->signal];
    bool is_ours = of->process < 0 && of->thread >= 0;
    others whom = is_ours ? NONE : TOO;
    if (of->process >= 0) {
        /* Of an int the upper half is anything. */
        a[of->process] = mr_inputs_process((pid_t)a[of->process]);
        is_ours = a[of->process] == mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
        whom = is_ours ? NONE : a[of->process] <= 0 ? TOO : ONLY;
    }
    mr_thread *target = is_ours && of->thread >= 0 ? thread_of((pid_t)a[of->thread]) : NULL;
    if (target != NULL) {
        a[of->thread] = target->kernel_id;
    }
    uint32_t before = target != NULL ? target->arrived : 0;
    thread->raising = target == thread || (is_ours && of->thread < 0 && mr_rt.alive == 1);
    mr_signal_caused(whom == ONLY ? 0 : number, code);
    if (whom != NONE) {
        mr_signal_caused(SIGCHLD, code);
        mr_outside_tell(code);
    }
    long result = mr_sys(of->call, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result == 0 && target != NULL && target != thread) {
        wait_for_arrival(target, before, number);
    }
    thread->raising = false;
    return result;
}

bool mr_signal_system_call(long call, long a[6], uintptr_t code, long *result)
{
    const sending *of = sending_of(call);
    mr_thread *thread = of != NULL ? mr_enter() : NULL;
    if (thread == NULL) {
        return false;
    }
    *result = send_by(thread, of, a, code);
    mr_leave(thread);
    return true;
}

static int function_of(long call, long a[6], uintptr_t code)
{
    long result = 0;
    if (!mr_signal_system_call(call, a, code, &result)) {
        result = mr_sys(call, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    if (mr_sys_failed(result)) {
        errno = (int)-result;
        return -1;
    }
    return (int)result;
}

MR_EXPORT int tgkill(pid_t process, pid_t thread, int number)
{
    long a[6] = {process, thread, number};
    return function_of(SYS_tgkill, a, MR_CALLER);
}

#ifdef SYS_pidfd_send_signal
MR_EXPORT int pidfd_send_signal(int process, int number, siginfo_t *info, unsigned flags);

MR_EXPORT int pidfd_send_signal(int process, int number, siginfo_t *info, unsigned flags)
{
    long a[6] = {process, number, (long)info, (long)flags};
    return function_of(SYS_pidfd_send_signal, a, MR_CALLER);
}
#endif
