/*
 * Exceptions that several threads have: std::exception_ptr. Their owners are counted in libstdc++,
 * which is not recorded, and the last one destroys the exception, in code of the program. So each time
 * an owner lets go of an exception is logged as an order on it, as the atomic count is: who lets go
 * later comes after.
 */
#include "real.h"
#include "scheduler.h"
#include "writer.h"

/* What libstdc++ has before an exception, and instead of one that is thrown again by
 * std::rethrow_exception (Itanium C++ ABI, exception handling, 2.2.1). */
typedef struct exception_header {
    void *type_or_primary; /* dependent: the exception itself */
    void (*functions[3])(void);
    struct exception_header *next;
    int handlers, switch_value;
    const void *handler_data[4];
    uint64_t exception_class; /* of _Unwind_Exception, which is 32 bytes */
    uint64_t unwinding[3];
} exception_header;

_Static_assert(sizeof(exception_header) == 112, "as libstdc++ has it");

/* "GNUCC++", with 0 behind it, or 1 for a dependent one. */
#define GNU_CLASS 0x474e5543432b2b00u

typedef struct exception_globals {
    exception_header *caught;
    unsigned uncaught;
} exception_globals;

MR_EXPORT void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void **pointer);
MR_EXPORT void __cxa_end_catch(void);
extern exception_globals *__cxa_get_globals(void);

static void log_release(const void *exception, uintptr_t code)
{
    mr_thread *thread = exception != NULL ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, exception, code, 0, 0);
        mr_leave(thread);
    }
}

void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void **pointer)
{
    log_release(*pointer, MR_CALLER);
    MR_REAL(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv)(pointer);
}

/* The exception that the innermost handler of the thread has; NULL: it is of another language. */
static const void *caught_exception(void)
{
    const exception_header *header = MR_REAL(__cxa_get_globals)()->caught;
    if (header == NULL || (header->exception_class & ~(uint64_t)1) != GNU_CLASS) {
        return NULL;
    }
    return header->exception_class == GNU_CLASS ? (const void *)(header + 1)
                                                : header->type_or_primary;
}

void __cxa_end_catch(void)
{
    if (mr_self != NULL) {
        log_release(caught_exception(), MR_CALLER);
    }
    MR_REAL(__cxa_end_catch)();
}
