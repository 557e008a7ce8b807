#include "explore.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"
#include "steer.h"
#include "sys.h"
#include "thread.h"
#include "writer.h"

/* Is it in a real call, without the baton? What libc calls in there is not the program's: malloc,
 * when the first thread to be cancelled loads the unwinder. */
static bool is_in_call(const mr_thread *thread)
{
    return __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == MR_OUTSIDE &&
           !(thread->attention & MR_ATTENTION_LOST);
}

mr_thread *mr_enter_at(uintptr_t code)
{
    mr_thread *thread = mr_self;
    if (thread == NULL || thread->busy != 0 || is_in_call(thread)) {
        return NULL;
    }
    thread->busy = 1;
    if (thread->attention != 0) {
        mr_attend(thread);
    }
    mr_writer_settle();
    if (mr_steers()) {
        thread->called = code;
        do {
            mr_steer_stop(thread, MR_STOP_CALL);
        } while (mr_signals_replay(thread));
    }
    return thread;
}

void mr_leave(mr_thread *thread)
{
    thread->busy = 0;
    mr_explore_clean();
}

/* The thread is runnable again and waits for its turn, unless the watchdog left the baton to it. */
static void come_back(mr_thread *thread)
{
    mr_state_lock();
    __atomic_and_fetch(&thread->attention, ~(uint32_t)MR_ATTENTION_LOST, __ATOMIC_RELAXED);
    if (mr_rt.owner == thread) {
        mr_state_unlock();
        return;
    }
    if (thread->state == MR_OUTSIDE) {
        thread->state = MR_RUNNABLE;
        thread->waits_for_outside = false; /* also when it is cancelled in the call */
    }
    if (mr_rt.owner == NULL) {
        mr_dispatch();
    }
    mr_state_unlock();
    mr_wait_turn(thread);
}

void mr_attend(mr_thread *thread)
{
    if (thread->attention & MR_ATTENTION_LOST) {
        come_back(thread);
    }
    mr_writer_settle();
    if (thread->attention & MR_ATTENTION_SIGNAL) {
        mr_signals_handle(thread);
    }
    if (thread->attention & MR_ATTENTION_CANCEL) {
        __atomic_and_fetch(&thread->attention, ~(uint32_t)MR_ATTENTION_CANCEL, __ATOMIC_RELAXED);
        if (thread->cancel_async && !thread->cancel_disabled) {
            mr_thread_cancel_point(thread);
        }
    }
}

static bool is_atomic(unsigned kind)
{
    return kind >= MR_LOG_ATOMIC_READ && kind <= MR_LOG_ATOMIC_UPDATE;
}

void mr_look_around(mr_thread *thread)
{
    thread->busy = 1;
    if (thread->attention != 0) {
        mr_attend(thread);
        if (thread->attention & (MR_ATTENTION_IGNORE | MR_ATTENTION_EXPLORE)) {
            mr_hot->budget--; /* it lasts, and the caller has taken nothing */
        }
    }
    if (mr_steers()) {
        mr_stop_kind kind = thread->about.code == 0                         ? MR_STOP_FUNCTION
                            : is_atomic(mr_log_kind_of(thread->about.head)) ? MR_STOP_ATOMIC
                                                                            : MR_STOP_ACCESS;
        do {
            mr_steer_stop(thread, kind);
        } while (mr_signals_replay(thread));
    }
    if (mr_hot->budget < 0) {
        mr_reconsider(thread);
        if (mr_hot->budget < 0) {
            mr_budget_renew();
        }
    }
    if (mr_rt.explores && thread->about.code != 0 &&
        !mr_log_is_range(mr_log_kind_of(thread->about.head))) {
        mr_explore_state(thread);
    }
    thread->busy = 0;
}

void mr_outside_begin(mr_thread *thread)
{
    mr_writer_settle();
    mr_state_lock();
    __atomic_and_fetch(&thread->attention, ~(uint32_t)MR_ATTENTION_LOST, __ATOMIC_RELAXED);
    thread->state = MR_OUTSIDE;
    mr_rt.owner = NULL;
    mr_dispatch();
    mr_state_unlock();
    thread->busy = 0;
}

void mr_outside_end(mr_thread *thread)
{
    thread->busy = 1;
    come_back(thread);
}

mr_call mr_call_begin(mr_thread *thread, bool ready)
{
    if (ready) {
        mr_leave(thread);
    } else {
        mr_outside_begin(thread);
    }
    return (mr_call){.thread = ready ? NULL : thread};
}

void mr_call_end(mr_call *call)
{
    if (call->thread != NULL) {
        mr_outside_end(call->thread);
        if (!call->returned) {
            mr_thread_cancel_unwinds(call->thread);
        }
        mr_leave(call->thread);
    }
}

void mr_first_turn(mr_thread *thread)
{
    mr_self = thread;
    thread->busy = 1;
    __atomic_store_n(&thread->kernel_id, mr_gettid(), __ATOMIC_RELEASE);
    MR_REAL(pthread_sigmask)(SIG_SETMASK, &thread->mask, NULL);
    mr_wait_turn(thread);
}

void mr_last_turn(mr_thread *thread)
{
    mr_writer_settle();
    mr_wake_key(thread);
    mr_state_lock();
    thread->state = MR_DONE;
    mr_rt.alive--;
    mr_rt.owner = NULL;
    mr_rt.leaving = thread->handle == mr_rt.main_handle ? 0 : thread->kernel_id;
    mr_self = NULL;
    mr_dispatch();
    mr_state_unlock();
}
