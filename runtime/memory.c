/*
 * Accesses of ranges by functions that instrumented code calls: of other code the rest is not known
 * either. The functions of libc are in libc/.
 */
#include "memory.h"

#include "ignore.h"
#include "modules.h"
#include "real.h"
#include "scheduler.h"
#include "steer.h"
#include "tsan.h"
#include "writer.h"

#include <string.h>

mr_thread *mr_memory_begin(uintptr_t code)
{
    mr_thread *thread = mr_self;
    if (thread == NULL || thread->busy != 0 || !mr_is_instrumented(code)) {
        return NULL;
    }
    if (thread->attention != 0 || --mr_hot->budget < 0) {
        mr_look_around(thread);
    }
    return mr_enter();
}

void mr_memory_read(const mr_thread *thread, const void *address, size_t bytes, uintptr_t code)
{
    if (thread != NULL && bytes > 0 && !mr_ignores_all(thread)) {
        mr_write_range(MR_LOG_RANGE_READ, address, bytes, code);
    }
}

void mr_memory_end(mr_thread *thread, const void *written, size_t bytes, uintptr_t code)
{
    if (thread != NULL) {
        if (bytes > 0 && !mr_ignores_writes(thread)) {
            mr_write_range(MR_LOG_RANGE_WRITE, written, bytes, code);
        }
        mr_leave(thread);
    }
}

void mr_memory_written(const void *address, size_t bytes, uintptr_t code)
{
    if (mr_is_instrumented(code) && !mr_ignores_writes(mr_self)) {
        mr_write_range(MR_LOG_RANGE_WRITE, address, bytes, code);
    }
}

/* What compilers call instead, where they do not leave these calls alone. */
void *__tsan_memcpy(void *to, const void *from, unsigned long bytes)
{
    mr_thread *thread = mr_memory_begin(MR_CALLER);
    mr_memory_read(thread, from, bytes, MR_CALLER);
    if (mr_steers() && thread != NULL) {
        mr_steer_within(thread);
    }
    void *result = MR_REAL(memmove)(to, from, bytes);
    mr_memory_end(thread, to, bytes, MR_CALLER);
    return result;
}

void *__tsan_memmove(void *to, const void *from, unsigned long bytes)
{
    return __tsan_memcpy(to, from, bytes);
}

void *__tsan_memset(void *to, int value, unsigned long bytes)
{
    mr_thread *thread = mr_memory_begin(MR_CALLER);
    void *result = MR_REAL(memset)(to, value, bytes);
    mr_memory_end(thread, to, bytes, MR_CALLER);
    return result;
}
