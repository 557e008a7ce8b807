#include "timer_thread.h"

#include "scheduler.h"
#include "sys.h"
#include "thread.h"
#include "writer.h"

struct mr_timer_thread {
    struct sigevent event;
    pthread_attr_t attributes; /* of the threads that call the function */
    uintptr_t code;            /* where it was armed */
    int64_t due; /* by the program's clocks (mr_elapsed_now), MR_NEVER: it is not armed */
    int64_t interval;
    int users; /* the thread that waits for it, and those that will call the function */
    bool ends;
    mr_timer_thread *next; /* of those that nobody uses */
};

static mr_timer_thread *unused; /* changed with the baton held */

/* The caller has the baton. */
static void let_go(mr_timer_thread *self)
{
    if (--self->users == 0) {
        pthread_attr_destroy(&self->attributes);
        self->next = unused;
        unused = self;
    }
}

/* As in a thread of glibc's for this, no signal is blocked. */
static void *call_function(void *timer)
{
    mr_timer_thread *self = timer;
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    mr_thread *thread = mr_enter();
    void (*function)(union sigval) = self->event.sigev_notify_function;
    union sigval value = self->event.sigev_value;
    if (thread != NULL) {
        let_go(self);
        mr_leave(thread);
    }
    function(value);
    return NULL;
}

/* Waits for the next expiry, or until the timer is changed; the caller is busy. Has it expired? */
static bool has_expired(mr_thread *thread, mr_timer_thread *self)
{
    int64_t left = self->due == MR_NEVER ? MR_NEVER : self->due - mr_elapsed_now();
    if (left > 0) {
        int64_t limit = left == MR_NEVER ? MR_NEVER : mr_limit_after(left);
        if (mr_block(thread, self, limit, false) == MR_INTERRUPTED) {
            mr_attend(thread);
        }
        return false;
    }
    self->due = self->interval > 0 ? self->due + self->interval : MR_NEVER;
    return true;
}

static void *wait_for_expiries(void *timer)
{
    mr_timer_thread *self = timer;
    pthread_t handle;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (mr_thread *thread; (thread = mr_enter()) != NULL; mr_leave(thread)) {
        if (self->ends) {
            let_go(self);
            mr_leave(thread);
            break;
        }
        if (!has_expired(thread, self)) {
            continue;
        }
        mr_write_object(MR_LOG_AFTER, 0, self, self->code, 0, 0);
        self->users++;
        uintptr_t code = self->code;
        mr_leave(thread);
        bool starts = mr_thread_create(&handle, &self->attributes, call_function, self, code) == 0;
        thread = mr_enter();
        if (thread == NULL) {
            break;
        }
        self->users -= !starts;
    }
    return NULL;
}

static mr_timer_thread *new_timer(const struct sigevent *event, uintptr_t code)
{
    mr_timer_thread *self = unused;
    if (self != NULL) {
        unused = self->next;
    } else if ((self = mr_pages(sizeof *self)) == NULL) {
        return NULL;
    }
    *self = (mr_timer_thread){.event = *event, .code = code, .due = MR_NEVER, .users = 1};
    mr_thread_detached(&self->attributes, event->sigev_notify_attributes);
    return self;
}

mr_timer_thread *mr_timer_thread_make(const struct sigevent *event, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    mr_timer_thread *self = thread != NULL ? new_timer(event, code) : NULL;
    if (thread != NULL) {
        mr_leave(thread);
    }
    if (self == NULL) {
        return NULL;
    }
    pthread_t handle;
    pthread_attr_t attributes;
    mr_thread_detached(&attributes, NULL);
    int status = mr_thread_create(&handle, &attributes, wait_for_expiries, self, code);
    pthread_attr_destroy(&attributes);
    thread = mr_enter();
    if (status != 0) {
        let_go(self);
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
    return status == 0 ? self : NULL;
}

void mr_timer_thread_arm(mr_timer_thread *self, int64_t ns, int64_t interval, uintptr_t code)
{
    self->code = code;
    self->due = ns == 0 ? MR_NEVER : mr_elapsed_now() + ns;
    self->interval = interval;
    mr_write_object(MR_LOG_BEFORE, 0, self, code, 0, 0);
    mr_wake_key(self);
}

void mr_timer_thread_end(mr_timer_thread *self)
{
    self->ends = true;
    mr_wake_key(self);
}
