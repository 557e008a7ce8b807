#include "fiber.h"

#include "scheduler.h"
#include "sys.h"
#include "thread.h"
#include "tsan.h"
#include "writer.h"

enum { SWITCH_NO_SYNC = 1 };

static mr_fiber *unused_fibers;

static mr_fiber *new_fiber(uint32_t creator)
{
    mr_fiber *fiber = unused_fibers;
    mr_live_frame *frames;
    if (fiber != NULL) {
        unused_fibers = fiber->next;
        frames = fiber->frames;
    } else {
        fiber = mr_pages(sizeof *fiber + MR_FRAMES_MAX * sizeof *frames);
        if (fiber == NULL) {
            return NULL;
        }
        frames = (mr_live_frame *)(fiber + 1);
    }
    *fiber = (mr_fiber){.id = mr_thread_number(), .creator = creator, .frames = frames};
    return fiber;
}

static mr_fiber *running(mr_thread *thread)
{
    return thread->fiber != NULL ? thread->fiber : &thread->own_fiber;
}

/* Events of the thread are of `fiber` from here on. */
static void become(mr_thread *thread, mr_fiber *fiber)
{
    mr_fiber *before = running(thread);
    before->id = thread->id;
    before->depth = thread->depth;
    before->frames = thread->frames;
    before->stack_start = thread->stack_start;
    before->stack_end = thread->stack_end;
    thread->id = fiber->id;
    thread->depth = fiber->depth;
    thread->frames = fiber->frames;
    thread->stack_start = fiber->stack_start;
    thread->stack_end = fiber->stack_end;
    thread->fiber = fiber == &thread->own_fiber ? NULL : fiber;
    mr_writer_settle();
    mr_rt.logged = thread->id;
    mr_write_switch(thread->id);
    if (thread->fiber != NULL && !fiber->begun) {
        fiber->begun = true;
        mr_write_object(MR_LOG_BEGIN, 0, NULL, 0, 0, fiber->creator);
    }
}

void mr_fiber_home(mr_thread *thread)
{
    if (thread->fiber != NULL) {
        become(thread, &thread->own_fiber);
    }
}

void *__tsan_get_current_fiber(void)
{
    mr_thread *thread = mr_self;
    static mr_fiber unrecorded;
    return thread != NULL ? running(thread) : &unrecorded;
}

void *__tsan_create_fiber(unsigned flags)
{
    (void)flags;
    static mr_fiber unrecorded;
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return &unrecorded;
    }
    mr_fiber *fiber = new_fiber(thread->id);
    if (fiber != NULL) {
        mr_write_object(MR_LOG_FORK, 0, NULL, MR_CALLER, 0, fiber->id);
        mr_write_text(MR_LOG_THREAD_NAME, fiber->id, "fiber");
    }
    mr_leave(thread);
    return fiber;
}

void __tsan_switch_to_fiber(void *to, unsigned flags)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL || to == NULL) {
        return;
    }
    if (to != running(thread)) {
        bool orders = (flags & SWITCH_NO_SYNC) == 0;
        if (orders) {
            mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, to, MR_CALLER, 0, 0);
        }
        become(thread, to);
        if (orders) {
            mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_NONE, to, MR_CALLER, 0, 0);
        }
    }
    mr_leave(thread);
}

void __tsan_destroy_fiber(void *object)
{
    mr_fiber *fiber = object;
    mr_thread *thread = mr_enter();
    if (thread == NULL || fiber == NULL) {
        return;
    }
    mr_fiber *before = running(thread);
    if (fiber->begun && fiber != before) {
        become(thread, fiber);
        mr_write_object(MR_LOG_END, 0, NULL, 0, 0, 0);
        become(thread, before);
    }
    if (fiber != before) {
        fiber->next = unused_fibers;
        unused_fibers = fiber;
    }
    mr_leave(thread);
}

void __tsan_set_fiber_name(void *object, const char *name)
{
    const mr_fiber *fiber = object;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        if (fiber != NULL && name != NULL) {
            mr_write_text(MR_LOG_THREAD_NAME, fiber == running(thread) ? thread->id : fiber->id,
                          name);
        }
        mr_leave(thread);
    }
}
