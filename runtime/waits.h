/* waits: begin and end of interposed functions that wait; within them, so that a replay sees their caller. */
#ifndef MR_RUNTIME_WAITS_H
#define MR_RUNTIME_WAITS_H

#include "memory.h"
#include "modules.h"
#include "scheduler.h"
#include "thread.h"

static inline mr_thread *mr_wait_begin(void)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        mr_thread_cancel_point(thread);
    }
    return thread;
}

static inline void mr_wait_end(const void *written, size_t bytes, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_memory_end(thread, written, mr_is_instrumented(code) ? bytes : 0, code);
    }
}

/* `written` may be NULL. */
static inline void mr_wait_end_if(bool success, const void *written, size_t bytes, uintptr_t code)
{
    mr_wait_end(written, success && written != NULL ? bytes : 0, code);
}

#endif
