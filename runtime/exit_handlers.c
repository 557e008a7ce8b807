/*
 * Functions that are called when the program ends, or a library is unloaded (atexit, and destructors of static objects of C++, both of
 * which come here): who asks for the call comes before it, by the lock of libc's list.
 */
#include "real.h"
#include "scheduler.h"
#include "sys.h"
#include "writer.h"

enum { CHUNK_BYTES = 4096 };

/* Stands for the order; it is never given back. */
typedef struct exit_handler {
    void (*function)(void *);
    void *argument;
} exit_handler;

static struct {
    exit_handler *next, *end;
} room;

static exit_handler *make(void (*function)(void *), void *argument)
{
    if (room.next == room.end) {
        room.next = mr_pages(CHUNK_BYTES);
        room.end = room.next != NULL ? room.next + CHUNK_BYTES / sizeof *room.next : NULL;
    }
    exit_handler *made = room.next;
    if (made != NULL) {
        room.next++;
        *made = (exit_handler){function, argument};
    }
    return made;
}

static void call(void *argument)
{
    const exit_handler *self = argument;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_NONE, self, MR_CALLER, 0, 0);
        mr_leave(thread);
    }
    self->function(self->argument);
}

/* What the main thread asks for while it is alone comes before everything of the others. */
MR_EXPORT int __cxa_atexit(void (*function)(void *), void *argument, void *module);
int __cxa_atexit(void (*function)(void *), void *argument, void *module)
{
    mr_thread *thread = mr_rt.active && mr_rt.thread_count > 1 ? mr_enter() : NULL;
    exit_handler *handler = thread != NULL ? make(function, argument) : NULL;
    if (handler != NULL) {
        mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, handler, MR_CALLER, 0, 0);
        function = call;
        argument = handler;
    }
    int status = MR_REAL(__cxa_atexit)(function, argument, module);
    if (thread != NULL) {
        mr_leave(thread);
    }
    return status;
}
