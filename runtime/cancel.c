/*
 * Cancellation. Asynchronous cancellation is made deferred, with every event as a place where it
 * may happen, so a thread is never unwound in the middle of the runtime. A thread that runs on
 * without any event, and so has lost the baton to the watchdog, gets glibc's own signal for
 * cancellation, with a handler of ours before glibc's: it takes the baton and ends the thread. By
 * that signal the watchdog also has such a thread handle signals of the program.
 */
#include "real.h"
#include "scheduler.h"
#include "sys.h"
#include "thread.h"
#include "unwinder.h"
#include "writer.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "direct.h"

enum { SIGNAL_CANCEL = 32 }; /* glibc: no mask of the program blocks it, no sigaction changes it */

/* As the kernel has it. */
typedef struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
} kernel_action;

static void (*glibc_handler)(int, siginfo_t *, void *);

bool mr_thread_is_lost(const mr_thread *thread)
{
    return __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == MR_OUTSIDE && thread->busy == 0 &&
           (thread->attention & MR_ATTENTION_LOST) != 0;
}

/* The signals that wait for the thread are handled here, if it is still in none of its events. */
static void handle_here(mr_thread *thread)
{
    int saved_errno = errno;
    __atomic_store_n(&thread->poked, false, __ATOMIC_RELAXED);
    if (mr_rt.active && thread->busy == 0 &&
        (thread->state == MR_RUNNING || mr_thread_is_lost(thread))) {
        thread->busy = 1;
        mr_attend(thread);
        mr_leave(thread);
    }
    errno = saved_errno;
}

static void cancelled(int number, siginfo_t *info, void *context)
{
    mr_thread *thread = mr_self;
    if (thread != NULL && __atomic_load_n(&thread->poked, __ATOMIC_RELAXED)) {
        handle_here(thread);
    } else if (thread != NULL && mr_rt.active && mr_thread_is_lost(thread) &&
               thread->cancel_async) {
        int saved_errno = errno;
        mr_leave(mr_enter()); /* ends the thread, unless it has disabled that in the meantime */
        errno = saved_errno;
    } else if (glibc_handler != NULL) {
        glibc_handler(number, info, context);
    }
}

static bool get_action(int number, kernel_action *to)
{
    return mr_sys(SYS_rt_sigaction, number, 0, (long)to, sizeof to->mask, 0, 0) == 0;
}

static bool set_action(int number, const kernel_action *action)
{
    return mr_sys(SYS_rt_sigaction, number, (long)action, 0, sizeof action->mask, 0, 0) == 0;
}

/* Puts our handler before glibc's, which is there from its first pthread_cancel on. False: it is
 * not. */
static bool catch_cancel(void)
{
    kernel_action action = {0};
    if (!get_action(SIGNAL_CANCEL, &action) || action.handler == NULL ||
        (uintptr_t)action.handler == (uintptr_t)SIG_IGN) { /* so posix_spawn starts programs */
        return false;
    }
    if (action.handler != cancelled) {
        glibc_handler = action.handler;
        action.handler = cancelled;
        return set_action(SIGNAL_CANCEL, &action);
    }
    return true;
}

void mr_thread_poke(mr_thread *thread, int number)
{
    kernel_action action = {0};
    bool is_caught = catch_cancel();
    if (!is_caught && get_action(number, &action)) { /* how a handler returns, glibc knows */
        action.handler = cancelled;
        action.flags = (action.flags & ~(unsigned long)(SA_RESETHAND | SA_NODEFER)) |
                       (unsigned long)(SA_SIGINFO | SA_RESTART);
        action.mask = 0;
        is_caught = set_action(SIGNAL_CANCEL, &action);
    }
    if (is_caught) {
        __atomic_store_n(&thread->poked, true, __ATOMIC_SEQ_CST);
        mr_sys(SYS_tgkill, mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0), thread->kernel_id, SIGNAL_CANCEL,
               0, 0, 0);
    }
}

/* A thread that ends in a real call, or in a loop, comes back to the runtime before anybody goes
 * on, so that the run does not depend on how long that takes. */
static void wait_until_back(const mr_thread *thread)
{
    const int PATIENCE_NS = 100000000; /* it may be in a call that goes on when cancelled */
    int64_t start = mr_clock_ns(CLOCK_MONOTONIC);
    while (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == MR_OUTSIDE &&
           mr_clock_ns(CLOCK_MONOTONIC) - start < PATIENCE_NS) {
        mr_sys(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    }
}

static int cancel(mr_thread *thread)
{
    thread->cancel_pending = true;
    __atomic_or_fetch(&thread->attention, MR_ATTENTION_CANCEL, __ATOMIC_SEQ_CST);
    int status = MR_REAL(pthread_cancel)(thread->handle);
    if (thread->cancel_disabled) {
        return status;
    }
    if (thread->cancellable) {
        mr_wake(thread, MR_CANCELLED);
    }
    bool lost = mr_thread_is_lost(thread);
    if (lost && thread->cancel_async && catch_cancel()) {
        mr_sys(SYS_tgkill, mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0), thread->kernel_id, SIGNAL_CANCEL,
               0, 0, 0);
    }
    if (!lost || thread->cancel_async) {
        wait_until_back(thread);
    }
    return status;
}

MR_EXPORT int pthread_cancel(pthread_t handle)
{
    mr_thread *self = mr_enter();
    if (self == NULL) {
        return MR_REAL(pthread_cancel)(handle);
    }
    mr_unwinder_prepare(true);
    mr_yield(self);
    mr_thread *thread = mr_thread_find(handle);
    int status = ESRCH;
    if (thread != NULL) {
        /* Also of one that has ended: in another order it might not have. */
        mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_CANCEL, (void *)(uintptr_t)thread->role,
                        MR_CALLER, 0, 0);
        status = thread->state == MR_DONE ? 0 : cancel(thread);
    }
    mr_attend(self); /* it may be itself */
    mr_leave(self);
    return status;
}

MR_EXPORT int pthread_setcancelstate(int state, int *old_state)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(pthread_setcancelstate)(state, old_state);
    if (thread != NULL) {
        if (status == 0) {
            thread->cancel_disabled = state == PTHREAD_CANCEL_DISABLE;
            if (thread->cancel_pending) {
                __atomic_or_fetch(&thread->attention, MR_ATTENTION_CANCEL, __ATOMIC_SEQ_CST);
                mr_attend(thread);
            }
        }
        mr_leave(thread);
    }
    return status;
}

MR_EXPORT int pthread_setcanceltype(int type, int *old_type)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_setcanceltype)(type, old_type);
    }
    int status = EINVAL;
    if (type == PTHREAD_CANCEL_DEFERRED || type == PTHREAD_CANCEL_ASYNCHRONOUS) {
        if (old_type != NULL) {
            *old_type =
                thread->cancel_async ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
        }
        thread->cancel_async = type == PTHREAD_CANCEL_ASYNCHRONOUS;
        if (thread->cancel_pending) {
            __atomic_or_fetch(&thread->attention, MR_ATTENTION_CANCEL, __ATOMIC_SEQ_CST);
            mr_attend(thread);
        }
        status = 0;
    }
    mr_leave(thread);
    return status;
}

MR_EXPORT void pthread_testcancel(void)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        MR_REAL(pthread_testcancel)();
        return;
    }
    mr_yield(thread);
    mr_thread_cancel_point(thread);
    mr_leave(thread);
}

MR_EXPORT int pthread_setname_np(pthread_t handle, const char *name)
{
    mr_thread *self = mr_enter();
    int status = MR_REAL(pthread_setname_np)(handle, name);
    if (self != NULL) {
        mr_thread *thread = mr_thread_find(handle);
        if (status == 0 && thread != NULL) {
            mr_write_text(MR_LOG_THREAD_NAME, thread->id, name);
        }
        mr_leave(self);
    }
    return status;
}

/* Also by syscall(). */
MR_DIRECT(pthread_setcancelstate)
