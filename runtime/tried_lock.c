#include "tried_lock.h"

#include "explore.h"
#include "scheduler.h"
#include "steer.h"
#include "writer.h"

static bool take(mr_try_function try_now, const mr_tried_lock *how, void *lock, unsigned tried,
                 uintptr_t code)
{
    bool taken = try_now(lock) != 0;
    if (taken) {
        mr_write_object(how->shared ? MR_LOG_SHARED_ACQUIRE : MR_LOG_ACQUIRE, how->role, lock, code,
                        tried, how->number);
    }
    return taken;
}

bool mr_tried_lock_take(mr_thread *thread, mr_try_function try_now, const mr_tried_lock *how,
                        void *lock, int64_t limit, uintptr_t code)
{
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL); /* after a wait on a condition variable */
    }
    while (!take(try_now, how, lock, limit == MR_NEVER ? 0 : MR_LOG_TRIED, code)) {
        if (how->mark != NULL) {
            how->mark(lock);
        }
        thread->wake_bits = UINT32_MAX; /* also by a call of the kernel for this word */
        mr_write_object(MR_LOG_BLOCKED, how->role, lock, code, mr_explore_wait(limit, how->shared),
                        how->number);
        mr_wake_reason reason = mr_block(thread, lock, limit, false);
        if (reason == MR_TIMED_OUT) {
            mr_explore_failed_of(how->role, how->number, lock, code, how->shared);
            return false;
        }
        if (reason == MR_INTERRUPTED) {
            mr_attend(thread);
        }
    }
    return true;
}

bool mr_tried_lock_try(mr_thread *thread, mr_try_function try_now, const mr_tried_lock *how,
                       void *lock, uintptr_t code)
{
    mr_log_kind kind = how->shared ? MR_LOG_SHARED_ACQUIRE : MR_LOG_ACQUIRE;
    mr_yield(thread);
    bool taken = (!mr_steers() || mr_steer_expects(thread, kind) != 0) && /* as it was recorded */
                 take(try_now, how, lock, MR_LOG_TRIED, code);
    if (!taken) {
        mr_explore_failed_of(how->role, how->number, lock, code, how->shared);
    }
    return taken;
}

/* A library may end a program that gives back what is not taken, so the log says it before. */
void mr_tried_lock_give(void (*real)(void *lock), const mr_tried_lock *how, void *lock,
                        uintptr_t code)
{
    mr_write_object(how->shared ? MR_LOG_SHARED_RELEASE : MR_LOG_RELEASE, how->role, lock, code, 0,
                    how->number);
    real(lock);
    mr_wake_key(lock);
}
