#include "maxrace/annotate.h"

#include "modules.h"
#include "scheduler.h"
#include "writer.h"

enum { REACH_MAX = 65535 };

MR_EXPORT unsigned long maxrace_annotate_call_begin(const char *name, const maxrace_reach *reach,
                                                    size_t count)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return 0;
    }
    mr_yield(thread);
    unsigned long number = ++mr_rt.call_numbers;
    count = count < REACH_MAX ? count : 0;
    if (name != NULL) {
        mr_write_text(MR_LOG_CALL_NAME, number, name);
    }
    mr_write_object(MR_LOG_CALL_BEGIN, 0, NULL, MR_CALLER, (unsigned)count, number);
    for (size_t i = 0; i < count; i++) {
        mr_write_object(MR_LOG_CALL_REACH, 0, (const void *)reach[i].address, MR_CALLER, 0,
                        reach[i].bytes);
    }
    mr_leave(thread);
    return number;
}

MR_EXPORT void maxrace_annotate_call_end(unsigned long call)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_write_object(MR_LOG_CALL_END, 0, NULL, MR_CALLER, 0, call);
        mr_leave(thread);
    }
}

static void log_order(mr_log_kind kind, const volatile void *object, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        mr_write_object(kind, 0, (const void *)object, code, 0, 0);
        mr_leave(thread);
    }
}

MR_EXPORT void maxrace_annotate_happens_before(const volatile void *object)
{
    log_order(MR_LOG_BEFORE, object, MR_CALLER);
}

MR_EXPORT void maxrace_annotate_happens_after(const volatile void *object)
{
    log_order(MR_LOG_AFTER, object, MR_CALLER);
}

/* The names that programs annotated for ThreadSanitizer use. */
MR_EXPORT void __tsan_release(void *object);
void __tsan_release(void *object)
{
    log_order(MR_LOG_BEFORE, object, MR_CALLER);
}

MR_EXPORT void __tsan_acquire(void *object);
void __tsan_acquire(void *object)
{
    log_order(MR_LOG_AFTER, object, MR_CALLER);
}
