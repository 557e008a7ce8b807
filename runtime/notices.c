/*
 * notices: what calls a function in a thread of its own (SIGEV_THREAD) when a message, the end of input or output, or the
 * answer to a look-up of names is there.
 * glibc makes these threads unseen, so what they did would wake nobody. Here a thread of the program is made at the call. It
 * waits outside until a function of this file, in the thread of glibc, tells it, and then calls the function of the program.
 */
#include "notices.h"
#include "channels.h"
#include "real.h"
#include "scheduler.h"
#include "sys.h"
#include "thread.h"

#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { AWAITED, TOLD, DROPPED, QUEUES_MAX = 64, NOTICES_A_PIECE = 64 };

typedef struct notice notice;
struct notice {
    struct sigevent event; /* as the program gave it */
    mqd_t queue;           /* -1: it is not of a queue */
    mr_channel channel;    /* what is read, which may be closed when the function runs */
    _Atomic uint32_t state;
    notice *next; /* unused ones; else one whose channel is read as well */
};

/* Changed with the baton held. */
static notice *unused;
static notice *of_queue[QUEUES_MAX]; /* those that were asked for, by descriptor */

/* Ends the wait. A notice that was told is not dropped. */
static void tell(notice *self, uint32_t state)
{
    uint32_t awaited = AWAITED;
    atomic_compare_exchange_strong(&self->state, &awaited, state);
    mr_sys(SYS_futex, (long)&self->state, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* The function that glibc calls. */
static void tell_of(union sigval value)
{
    tell(value.sival_ptr, TOLD);
}

static void await_state(notice *self)
{
    while (atomic_load(&self->state) == AWAITED) {
        mr_sys(SYS_futex, (long)&self->state, FUTEX_WAIT_PRIVATE, AWAITED, 0, 0, 0);
    }
}

/* As in a thread of glibc's for this, no signal is blocked in the function. */
static void *await_and_call(void *of)
{
    notice *self = of;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        MR_CALL(thread, false, await_state(self));
    } else {
        await_state(self);
    }
    struct sigevent event = self->event;
    bool is_told = atomic_load(&self->state) == TOLD;
    thread = mr_enter();
    if (thread != NULL) {
        for (const notice *at = is_told ? self : NULL; at != NULL; at = at->next) {
            mr_channel_log_end_of(at->channel, (uintptr_t)event.sigev_notify_function);
        }
        if (self->queue >= 0 && self->queue < QUEUES_MAX && of_queue[self->queue] == self) {
            of_queue[self->queue] = NULL;
        }
        mr_leave(thread);
    }
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    if (is_told) {
        event.sigev_notify_function(event.sigev_value);
    }
    return NULL;
}

/* The caller is busy. NULL: no memory. */
static notice *take_unused(mr_channel channel)
{
    if (unused == NULL) {
        notice *more = mr_pages(NOTICES_A_PIECE * sizeof *more);
        for (int i = 0; more != NULL && i < NOTICES_A_PIECE; i++) {
            more[i].next = unused;
            unused = &more[i];
        }
    }
    notice *self = unused;
    if (self != NULL) {
        unused = self->next; /* a block of aio may name it for ever */
        self->next = NULL;
        self->channel = channel;
    }
    return self;
}

/* NULL: the event calls no function, or nothing is recorded; then glibc does it. */
static notice *make(const struct sigevent *event, mqd_t queue, int fd, uintptr_t code)
{
    mr_thread *thread = event != NULL && event->sigev_notify == SIGEV_THREAD ? mr_enter() : NULL;
    if (thread == NULL) {
        return NULL;
    }
    notice *self = take_unused(mr_channel_at(fd));
    if (self != NULL) {
        self->event = *event;
        self->queue = queue;
        atomic_store(&self->state, AWAITED);
    }
    mr_leave(thread);
    pthread_t handle;
    pthread_attr_t attributes;
    mr_thread_detached(&attributes, event->sigev_notify_attributes);
    bool starts =
        self != NULL && mr_thread_create(&handle, &attributes, await_and_call, self, code) == 0;
    pthread_attr_destroy(&attributes);
    return starts ? self : NULL;
}

static struct sigevent event_of(notice *self)
{
    return (struct sigevent){.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = tell_of,
                             .sigev_value.sival_ptr = self};
}

MR_EXPORT int mq_notify(mqd_t queue, const struct sigevent *event)
{
    notice *self = make(event, queue, queue, MR_CALLER);
    struct sigevent own;
    if (self != NULL) {
        own = event_of(self);
        event = &own;
    }
    int status = MR_REAL(mq_notify)(queue, event);
    if (status != 0 && self != NULL) {
        tell(self, DROPPED);
    }
    mr_thread *thread = status == 0 && queue >= 0 && queue < QUEUES_MAX ? mr_enter() : NULL;
    if (thread != NULL) {
        if (event == NULL && of_queue[queue] != NULL) {
            tell(of_queue[queue], DROPPED);
        }
        of_queue[queue] = self;
        mr_leave(thread);
    }
    return status;
}

static bool is_lead(const struct sigevent *event)
{
    return event->sigev_notify == SIGEV_THREAD && event->sigev_notify_function == tell_of;
}

void mr_notice_lead(struct sigevent *event, int fd, uintptr_t code)
{
    if (is_lead(event)) {
        *event = ((notice *)event->sigev_value.sival_ptr)->event;
    }
    notice *self = make(event, -1, fd, code);
    if (self != NULL) {
        *event = event_of(self);
    }
}

static bool is_same(mr_channel one, mr_channel other)
{
    return one.data == other.data && one.closed == other.closed;
}

void mr_notice_also(const struct sigevent *event, int fd)
{
    mr_thread *thread = is_lead(event) && fd >= 0 ? mr_enter() : NULL;
    if (thread == NULL) {
        return;
    }
    mr_channel channel = mr_channel_at(fd);
    notice *at = event->sigev_value.sival_ptr;
    while (!is_same(at->channel, channel) && at->next != NULL) {
        at = at->next;
    }
    if (!is_same(at->channel, channel)) {
        at->next = take_unused(channel);
    }
    mr_leave(thread);
}

void mr_notice_refused(struct sigevent *event)
{
    if (is_lead(event)) {
        notice *self = event->sigev_value.sival_ptr;
        *event = self->event;
        tell(self, DROPPED);
    }
}

/* An error may concern a part of the list, and then the function is called; EAI_AGAIN says that there was no memory for it. */
MR_EXPORT int getaddrinfo_a(int mode, struct gaicb *requests[], int count, struct sigevent *event)
{
    struct sigevent own = {.sigev_notify = SIGEV_NONE};
    bool leads = mode == GAI_NOWAIT && event != NULL;
    if (leads) {
        own = *event;
        mr_notice_lead(&own, -1, MR_CALLER);
    }
    mr_thread *thread = mode == GAI_WAIT ? mr_enter() : NULL;
    int status;
    if (thread != NULL) {
        MR_CALL(thread, false, status = MR_REAL(getaddrinfo_a)(mode, requests, count, event));
    } else {
        status = MR_REAL(getaddrinfo_a)(mode, requests, count, leads ? &own : event);
    }
    if (status == EAI_AGAIN) {
        mr_notice_refused(&own);
    }
    return status;
}
