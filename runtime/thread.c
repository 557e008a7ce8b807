#include "thread.h"

#include "arena.h"
#include "clocks.h"
#include "exit_handlers.h"
#include "explore.h"
#include "fiber.h"
#include "gomp.h"
#include "ignore.h"
#include "init.h"
#include "keys.h"
#include "memory.h"
#include "modules.h"
#include "mutex.h"
#include "qt.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"
#include "steer.h"
#include "sys.h"
#include "unseen.h"
#include "unwinder.h"
#include "watchdog.h"
#include "writer.h"

#include <errno.h>
#include <limits.h>
#include <sys/single_threaded.h>

static mr_thread *unused_threads; /* joined: their memory is used again */

uint32_t mr_thread_number(void)
{
    if (mr_rt.thread_count == 1) {
        mr_events_counted();
    }
    mr_state_lock();
    uint32_t number = mr_rt.thread_count++;
    mr_rt.header->threads = mr_rt.thread_count;
    mr_state_unlock();
    return number;
}

/* The thread was not made after all; its number goes to the next, if nobody has a later one. */
static void unmake_thread(mr_thread *thread)
{
    mr_state_lock();
    mr_rt.thread_count -= mr_rt.thread_count == thread->id + 1;
    mr_rt.header->threads = mr_rt.thread_count;
    mr_state_unlock();
    thread->next = unused_threads;
    unused_threads = thread;
}

static mr_thread *new_thread(void)
{
    mr_thread *thread = unused_threads;
    mr_live_frame *frames;
    if (thread != NULL) {
        unused_threads = thread->next;
        frames = thread->frames;
    } else {
        size_t bytes = sizeof *thread + MR_FRAMES_MAX * sizeof *frames;
        thread = mr_pages(bytes);
        if (thread == NULL) {
            return NULL;
        }
        frames = (mr_live_frame *)(thread + 1);
    }
    uint32_t number = mr_thread_number();
    *thread = (mr_thread){.id = number,
                          .role = number,
                          .frames = frames,
                          .deadline = MR_NEVER,
                          .priority = mr_random_priority()};
    return thread;
}

static void link_thread(mr_thread *thread)
{
    mr_state_lock();
    mr_rt.alive++;
    thread->next = mr_rt.threads;
    mr_rt.threads = thread;
    mr_state_unlock();
}

static void unlink_thread(mr_thread *thread)
{
    mr_state_lock();
    mr_thread **at = &mr_rt.threads;
    while (*at != NULL && *at != thread) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = thread->next;
    }
    mr_state_unlock();
    thread->next = unused_threads;
    unused_threads = thread;
}

mr_thread *mr_thread_find(pthread_t handle)
{
    mr_thread *thread = mr_rt.threads;
    while (thread != NULL && !pthread_equal(thread->handle, handle)) {
        thread = thread->next;
    }
    return thread;
}

/* Joins for real: it has done everything, or is about to. */
static int join_now(mr_thread *thread, void **result)
{
    int old_state;
    MR_REAL(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, &old_state);
    int status = MR_REAL(pthread_join)(thread->handle, result);
    MR_REAL(pthread_setcancelstate)(old_state, NULL);
    if (status == 0) {
        mr_arena_end(thread->arena);
    }
    unlink_thread(thread);
    return status;
}

void mr_thread_reap(void)
{
    while (mr_rt.reap != NULL) {
        mr_thread *thread = mr_rt.reap;
        mr_rt.reap = (mr_thread *)thread->argument;
        join_now(thread, NULL);
    }
}

static void to_reap(mr_thread *thread)
{
    thread->argument = mr_rt.reap;
    mr_rt.reap = thread;
}

/* Runs once per round of destructors; in the last one the thread ends. */
static void end_of_thread(void *value)
{
    mr_thread *thread = value;
    if (thread->is_shared && mr_self == NULL) { /* others may wait for its end */
        mr_self = thread;
        mr_outside_end(thread);
        mr_leave(thread);
    }
    if (mr_self != thread) {
        return;
    }
    if (++thread->end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        mr_end_key_set(thread);
        return;
    }
    if (mr_enter() == NULL) {
        return;
    }
    mr_fiber_home(thread);
    mr_ignore_note_end(thread);
    mr_mutex_leave_robust(thread);
    mr_qt_ends(thread);
    mr_gomp_ends();
    mr_write_object(MR_LOG_END, 0, NULL, 0, 0, 0);
    if (thread->detached) {
        to_reap(thread);
    }
    mr_last_turn(thread);
}

/* Attributes that name no stack have one that ends at address 0 in glibc. */
static void note_stack(mr_thread *thread, const pthread_attr_t *attributes)
{
    void *stack;
    size_t bytes;
    if (pthread_attr_getstack(attributes, &stack, &bytes) == 0 && (uintptr_t)stack + bytes != 0) {
        thread->stack_start = (uintptr_t)stack;
        thread->stack_end = thread->stack_start + bytes;
    }
}

/* pthread_getattr_np allocates. A malloc of the program's own has accesses then. */
static void find_stack(mr_thread *thread)
{
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        note_stack(thread, &attributes);
        pthread_attr_destroy(&attributes);
    }
}

/* Nothing of the thread may be in the log before this. */
static void log_begin(mr_thread *thread)
{
    if (thread->stack_end != 0 && !thread->has_given_stack) {
        mr_write_object(MR_LOG_GIVEN, MR_LOG_MEMORY_STACK, (void *)thread->stack_start, 0, 0,
                        thread->stack_end - thread->stack_start);
    }
    mr_write_object(MR_LOG_BEGIN, 0, (void *)(uintptr_t)thread->start, 0, 0, thread->creator);
    thread->begun = true;
}

bool mr_thread_main(void)
{
    mr_thread *thread = new_thread();
    if (thread == NULL || !mr_end_key_make(end_of_thread)) {
        return false;
    }
    mr_steer_thread(NULL, thread);
    link_thread(thread);
    thread->state = MR_RUNNING;
    thread->handle = pthread_self();
    thread->kernel_id = mr_gettid();
    thread->arena = mr_arena_make(0);
    find_stack(thread);
    mr_rt.owner = thread;
    mr_rt.logged = 0;
    mr_rt.main_handle = thread->handle;
    mr_write_switch(0);
    thread->busy = 1;
    mr_self = thread;
    log_begin(thread);
    thread->busy = 0;
    mr_end_key_set(thread);
    return true;
}

static void *thread_main(void *argument)
{
    mr_thread *thread = argument;
    mr_first_turn(thread);
    mr_end_key_set(thread);
    if (thread->stack_end == 0) {
        find_stack(thread);
    }
    log_begin(thread);
    void *(*start)(void *) = thread->start;
    void *its_argument = thread->argument;
    mr_leave(thread);
    mr_explore_clean();
    void *result = start(its_argument);
    __asm__ volatile(
        ""
        : "+r"(result)); /* no last call: the frame here stays, what is below is clean */
    return result;
}

/* The stack where arena.h says, unless the program gives one. The caller's attributes stay. */
static void place_stack(mr_thread *thread, pthread_attr_t *attributes)
{
    void *stack = NULL;
    size_t bytes = 0, guard = 0;
    pthread_attr_getguardsize(attributes, &guard);
    if (pthread_attr_getstack(attributes, &stack, &bytes) != 0 || bytes == 0) {
        pthread_attr_getstacksize(attributes, &bytes);
    } else if (stack != NULL && (uintptr_t)stack + bytes != 0) {
        thread->has_given_stack = true;
        return;
    }
    stack = mr_arena_stack(thread->arena, bytes, guard);
    if (stack != NULL) {
        pthread_attr_setstack(attributes, stack, bytes);
    }
}

/* Creates it joinable; `detached` says what was asked for. */
static int create_joinable(mr_thread *self, mr_thread *thread, const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    pthread_attr_t own;
    if (attributes == NULL) {
        pthread_attr_init(&own);
        pthread_getattr_default_np(&own);
    } else {
        own = *attributes; /* what it points to stays the caller's */
        pthread_attr_getdetachstate(&own, &state);
    }
    thread->detached = state == PTHREAD_CREATE_DETACHED;
    pthread_attr_setdetachstate(&own, PTHREAD_CREATE_JOINABLE);
    thread->arena = mr_arena_make(thread->role);
    place_stack(thread, &own);
    note_stack(thread, &own);
    self->busy = 0; /* pthread_create allocates; a malloc of the program's own is recorded */
    int status = MR_REAL(pthread_create)(&thread->handle, &own, thread_main, thread);
    self->busy = 1;
    if (attributes == NULL) {
        pthread_attr_destroy(&own);
    }
    if (status != 0) {
        mr_arena_unused(thread->arena);
    }
    return status;
}

/* With the first thread. libstdc++ reads the variable of glibc's in code that is compiled into programs. */
static void begin_threads(void)
{
    static bool begun;
    if (!begun) {
        begun = true;
        mr_exit_watch();
        mr_write_access(MR_LOG_ATOMIC_WRITE, 0, &__libc_single_threaded, __libc_single_threaded, 0);
    }
}

int mr_thread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                     void *argument, uintptr_t code)
{
    mr_thread *self = mr_enter();
    if (self == NULL) {
        mr_child_has_thread();
        return MR_REAL(pthread_create)(handle, attributes, start, argument);
    }
    /* Who owns the handle in a library is not known: it may count the owners unseen, as GLib does. */
    bool tells_handle = !mr_is_foreign(code);
    bool yields = !mr_is_qt(code); /* it has locked what the new thread is to lock, unseen */
    code = self->creates_at != 0 ? self->creates_at : mr_code_of(self, code);
    mr_unseen_thread(code);
    mr_unwinder_prepare(false);
    mr_yield(self);
    mr_watchdog_start();
    mr_thread *thread = new_thread();
    int status = thread == NULL ? EAGAIN : 0;
    if (thread != NULL) {
        mr_steer_thread(self, thread);
        thread->start = start;
        thread->argument = argument;
        thread->creator = self->id;
        thread->busy = 1;
        /* No handler before it knows itself. */
        uint64_t held = mr_signals_block_all(self, &thread->mask);
        status = create_joinable(self, thread, attributes);
        mr_signals_let_in(self, held, thread->mask);
    }
    if (status == 0) {
        link_thread(thread);
        begin_threads();
        mr_write_object(MR_LOG_FORK, 0, (void *)(uintptr_t)start, code, 0, thread->id);
        if (mr_steers() && tells_handle) {
            mr_steer_before(self, handle, (unsigned)mr_log_head(MR_LOG_WRITE, 3, 0), code);
        }
        *handle = thread->handle;
        if (tells_handle) {
            mr_write_access(MR_LOG_WRITE, 3, handle, (int64_t)*handle, code);
        }
        if (yields) {
            mr_yield(self);
        }
    } else if (thread != NULL) {
        mr_steer_no_thread(self, thread);
        unmake_thread(thread);
    }
    mr_leave(self);
    return status;
}

void mr_thread_detached(pthread_attr_t *attributes, const pthread_attr_t *like)
{
    size_t bytes;
    pthread_attr_init(attributes);
    pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_DETACHED);
    if (like != NULL && pthread_attr_getstacksize(like, &bytes) == 0) {
        pthread_attr_setstacksize(attributes, bytes);
    }
}

void mr_thread_cancel_seen(mr_thread *thread)
{
    thread->cancelled = true;
    mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_CANCEL, (void *)(uintptr_t)thread->role, 0, 0, 0);
}

void mr_thread_cancel_unwinds(mr_thread *thread)
{
    if (thread->cancel_pending) {
        if (mr_steers()) {
            mr_steer_stop(thread, MR_STOP_CALL); /* as where a call goes on */
        }
        mr_thread_cancel_seen(thread);
        thread->cancel_pending = false; /* as in mr_thread_cancel_point */
    }
}

void mr_thread_cancel_point(mr_thread *thread)
{
    if (thread->cancel_pending && !thread->cancel_disabled) {
        mr_thread_cancel_seen(thread);
        thread->busy = 0;
        thread->cancel_pending = false; /* it ends, and what cleans up is not cancelled again */
        MR_REAL(pthread_testcancel)();  /* returns when the thread ends already */
        thread->busy = 1;
    } else if (!thread->cancel_pending && !thread->cancel_disabled && !thread->cancelled) {
        mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_CANCEL, (void *)(uintptr_t)thread->role, 0,
                        MR_LOG_NOT_CANCELLED, 0);
        if (mr_steers()) {
            mr_steer_within(thread);
        }
    }
}

/* A join gives up. */
static void log_not_ended(const mr_thread *thread, uintptr_t code)
{
    mr_explore_choice(MR_LOG_CHOICE_FAILED, MR_LOG_ROLE_NONE, thread, code, 0);
    mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_ENDED, (void *)(uintptr_t)thread->id, code,
                    MR_LOG_NOT_ENDED, 0);
}

int mr_thread_join(pthread_t handle, void **result, int64_t limit, int late, uintptr_t code)
{
    mr_thread *self = mr_self;
    mr_thread *thread = mr_thread_find(handle);
    if (thread == NULL || thread == self || thread->detached || thread->waited_for) {
        return thread == self && thread != NULL ? EDEADLK : thread == NULL ? ESRCH : EINVAL;
    }
    mr_yield(self);
    thread->waited_for = true;
    while (thread->state != MR_DONE) {
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_NONE, thread, code,
                        mr_explore_wait(limit, false), thread->id);
        mr_wake_reason reason = mr_block(self, thread, limit, true);
        thread->waited_for = false;
        mr_attend(self);
        if (reason == MR_CANCELLED) {
            mr_thread_cancel_point(self);
        }
        if (reason == MR_TIMED_OUT && thread->state != MR_DONE) {
            log_not_ended(thread, code);
            return late;
        }
        thread->waited_for = true;
    }
    mr_write_object(MR_LOG_JOIN, 0, thread, code, 0, thread->id);
    int status = join_now(thread, result);
    if (status == 0 && result != NULL) {
        mr_memory_written(result, sizeof *result, code);
    }
    return status;
}

MR_EXPORT int pthread_create(pthread_t *handle, const pthread_attr_t *attributes,
                             void *(*start)(void *), void *argument)
{
    return mr_thread_create(handle, attributes, start, argument, MR_CALLER);
}

MR_EXPORT int pthread_join(pthread_t handle, void **result)
{
    mr_thread *self = mr_enter();
    if (self == NULL) {
        return MR_REAL(pthread_join)(handle, result);
    }
    mr_thread_cancel_point(self);
    int status = mr_thread_join(handle, result, MR_NEVER, ETIMEDOUT, mr_code_of(self, MR_CALLER));
    mr_leave(self);
    return status;
}

MR_EXPORT int pthread_tryjoin_np(pthread_t handle, void **result)
{
    mr_thread *self = mr_enter();
    if (self == NULL) {
        return MR_REAL(pthread_tryjoin_np)(handle, result);
    }
    mr_thread *thread = mr_thread_find(handle);
    int status = EBUSY;
    if (thread == NULL || thread->state == MR_DONE) {
        status = mr_thread_join(handle, result, 0, EBUSY, MR_CALLER);
    } else {
        log_not_ended(thread, MR_CALLER);
        mr_yield_to_others(self); /* it may be a loop that waits */
    }
    mr_leave(self);
    return status;
}

MR_EXPORT int pthread_timedjoin_np(pthread_t handle, void **result, const struct timespec *at)
{
    mr_thread *self = mr_enter();
    if (self == NULL) {
        return MR_REAL(pthread_timedjoin_np)(handle, result, at);
    }
    mr_thread_cancel_point(self);
    int status =
        mr_thread_join(handle, result, mr_limit_at(CLOCK_REALTIME, at), ETIMEDOUT, MR_CALLER);
    mr_leave(self);
    return status;
}

MR_EXPORT int pthread_clockjoin_np(pthread_t handle, void **result, clockid_t clock,
                                   const struct timespec *at)
{
    mr_thread *self = mr_enter();
    if (self == NULL) {
        return MR_REAL(pthread_clockjoin_np)(handle, result, clock, at);
    }
    mr_thread_cancel_point(self);
    int status = mr_thread_join(handle, result, mr_limit_at(clock, at), ETIMEDOUT, MR_CALLER);
    mr_leave(self);
    return status;
}

MR_EXPORT int pthread_detach(pthread_t handle)
{
    mr_thread *self = mr_enter();
    if (self == NULL) {
        return MR_REAL(pthread_detach)(handle);
    }
    mr_thread *thread = mr_thread_find(handle);
    int status = thread == NULL ? ESRCH : thread->detached ? EINVAL : 0;
    if (status == 0) {
        thread->detached = true;
        if (thread->state == MR_DONE) {
            to_reap(thread);
            mr_thread_reap();
        }
    }
    mr_leave(self);
    return status;
}
