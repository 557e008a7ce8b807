/*
 * Cancellation. Asynchronous cancellation is made deferred, with every event as a place where it
 * may happen, so a thread is never unwound in the middle of the runtime.
 */
#include "real.h"
#include "scheduler.h"
#include "sys.h"
#include "thread.h"
#include "writer.h"

#include <errno.h>

MR_EXPORT int pthread_cancel(pthread_t handle)
{
    mr_thread *self = mr_enter();
    if (self == NULL) {
        return MR_REAL(pthread_cancel)(handle);
    }
    mr_yield(self);
    mr_thread *thread = mr_thread_find(handle);
    int status = 0;
    if (thread == NULL) {
        status = ESRCH;
    } else if (thread->state != MR_DONE) {
        thread->cancel_pending = true;
        __atomic_or_fetch(&thread->attention, MR_ATTENTION_CANCEL, __ATOMIC_SEQ_CST);
        status = MR_REAL(pthread_cancel)(handle);
        if (thread->cancellable && !thread->cancel_disabled) {
            mr_wake(thread, MR_CANCELLED);
        }
    }
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
