/*
 * Functions that are called when the program ends, or a library is unloaded (atexit and destructors of static objects of C++, both of
 * which come to __cxa_atexit, and on_exit): who asks for the call comes before it, by the lock of libc's list.
 */
#include "exit_handlers.h"

#include "real.h"
#include "scheduler.h"
#include "steer.h"
#include "sys.h"
#include "writer.h"

#include <stdlib.h>

enum { CHUNK_BYTES = 4096 };

MR_EXPORT int __cxa_atexit(void (*function)(void *), void *argument, void *module);

/* Stands for the order; it is never given back. */
typedef struct exit_handler {
    union {
        void (*function)(void *);
        void (*with_status)(int, void *); /* of on_exit */
    };
    void *argument;
} exit_handler;

static struct {
    exit_handler *next, *end;
} room;

/* The thread that asks comes before the call. NULL: no memory. */
static exit_handler *make(exit_handler what, uintptr_t code)
{
    if (room.next == room.end) {
        room.next = mr_pages(CHUNK_BYTES);
        room.end = room.next != NULL ? room.next + CHUNK_BYTES / sizeof *room.next : NULL;
    }
    exit_handler *made = room.next;
    if (made != NULL) {
        room.next++;
        *made = what;
        mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, made, code, 0, 0);
    }
    return made;
}

static void let_others_go_on(mr_thread *self)
{
    enum { TURNS = 300, EVENTS = 50000 };
    if (mr_rt.explores || mr_steers()) {
        return;
    }
    const uint64_t end = mr_events_now() + EVENTS; /* a loop without end fills long turns */
    for (int i = 0; i < TURNS && mr_events_now() < end && mr_others_can_run(self); i++) {
        mr_yield_to_others(self);
    }
}

static bool hunts(void)
{
    return mr_rt.ends_deadlock_soon;
}

/* The process ends, before anything is called; not in a hunt. Where a library is unloaded instead, this comes too early and is not
 * repeated. */
static void begin_end(mr_thread *self)
{
    static bool begun;
    if (!begun && !hunts() && mr_rt.schedule != MR_LOG_SCHEDULE_PCT) {
        let_others_go_on(self);
    }
    begun = true;
}

void mr_exit_end(mr_thread *self)
{
    if (!hunts()) {
        begin_end(self);
    } else if (mr_random_below(2) == 0) {
        let_others_go_on(self);
    }
}

static void end_begins(void *unused)
{
    (void)unused;
    mr_thread *thread = mr_rt.logging ? mr_enter() : NULL;
    if (thread != NULL) {
        begin_end(thread);
        mr_leave(thread);
    }
}

void mr_exit_watch(void)
{
    MR_REAL(__cxa_atexit)(end_begins, NULL, NULL);
}

static void log_call(const exit_handler *self, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        begin_end(thread);
        mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_NONE, self, code, 0, 0);
        mr_leave(thread);
    }
}

static void call(void *argument)
{
    const exit_handler *self = argument;
    log_call(self, MR_CALLER);
    self->function(self->argument);
}

static void call_with_status(int status, void *argument)
{
    const exit_handler *self = argument;
    log_call(self, MR_CALLER);
    self->with_status(status, self->argument);
}

/* What the main thread asks for while it is alone comes before everything of the others. */
static mr_thread *enter(void)
{
    return mr_rt.active && mr_rt.thread_count > 1 ? mr_enter() : NULL;
}

int __cxa_atexit(void (*function)(void *), void *argument, void *module)
{
    mr_thread *thread = enter();
    exit_handler *handler =
        thread != NULL ? make((exit_handler){.function = function, .argument = argument}, MR_CALLER)
                       : NULL;
    int status = handler != NULL ? MR_REAL(__cxa_atexit)(call, handler, module)
                                 : MR_REAL(__cxa_atexit)(function, argument, module);
    if (thread != NULL) {
        mr_leave(thread);
    }
    return status;
}

MR_EXPORT int on_exit(void (*function)(int, void *), void *argument)
{
    mr_thread *thread = enter();
    exit_handler *handler =
        thread != NULL
            ? make((exit_handler){.with_status = function, .argument = argument}, MR_CALLER)
            : NULL;
    int status = handler != NULL ? MR_REAL(on_exit)(call_with_status, handler)
                                 : MR_REAL(on_exit)(function, argument);
    if (thread != NULL) {
        mr_leave(thread);
    }
    return status;
}
