/*
 * Exceptions that several threads have: std::exception_ptr. Their owners are counted in libstdc++,
 * which is not recorded, and the last one destroys the exception, in code of the program. So each
 * owner that lets go of an exception gives a unit of a semaphore of its own, and the last one takes
 * them all.
 */
#include "real.h"
#include "scheduler.h"
#include "sys.h"
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

/* The count of owners is so many bytes before the exception. */
enum { OWNERS_BEFORE = 128 };

/* "GNUCC++", with 0 behind it, or 1 for a dependent one. */
#define GNU_CLASS 0x474e5543432b2b00u

typedef struct exception_globals {
    exception_header *caught;
    unsigned uncaught;
} exception_globals;

MR_EXPORT void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void **pointer);
MR_EXPORT void __cxa_end_catch(void);
extern exception_globals *__cxa_get_globals(void);

/* An exception that some owner has let go of, and others have. */
typedef struct let_go {
    const void *exception; /* NULL: free entry */
    unsigned times;
    struct let_go *next;
} let_go;

static let_go *all;

static let_go *find(const void *exception)
{
    let_go *at = all;
    while (at != NULL && at->exception != exception) {
        at = at->next;
    }
    return at;
}

/* NULL: no memory. */
static let_go *find_or_make(const void *exception)
{
    let_go *entry = find(exception);
    if (entry == NULL) {
        entry = find(NULL);
    }
    if (entry == NULL) {
        let_go *page = mr_pages(4096);
        for (size_t i = 0; page != NULL && i < 4096 / sizeof *page; i++) {
            page[i].next = all;
            all = &page[i];
        }
        entry = page;
    }
    if (entry != NULL && entry->exception == NULL) {
        *entry = (let_go){exception, 0, entry->next};
    }
    return entry;
}

/* How many owners it has. */
static int owners_of(const void *exception)
{
    return __atomic_load_n((const int *)exception - OWNERS_BEFORE / sizeof(int), __ATOMIC_RELAXED);
}

/* An owner is about to let go of the exception. */
static void log_release(const void *exception, uintptr_t code)
{
    mr_thread *thread = exception != NULL ? mr_enter() : NULL;
    if (thread == NULL) {
        return;
    }
    let_go *entry = owners_of(exception) > 1 ? find_or_make(exception) : find(exception);
    if (entry != NULL && owners_of(exception) > 1 && entry->times < UINT16_MAX) {
        entry->times++;
        mr_write_object(MR_LOG_POST, MR_LOG_ROLE_OWN, exception, code, 1, 0);
    } else if (entry != NULL && owners_of(exception) == 1) {
        mr_write_object(MR_LOG_WAIT, MR_LOG_ROLE_OWN, exception, code, entry->times, 0);
        entry->exception = NULL;
    }
    mr_leave(thread);
}

void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void **pointer)
{
    log_release(*pointer, MR_CALLER);
    MR_REAL(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv)(pointer);
}

/* The exception that the innermost handler of the thread lets go of at its end; NULL: it does not, or
 * it is of another language. */
static const void *caught_exception(void)
{
    const exception_header *header = MR_REAL(__cxa_get_globals)()->caught;
    if (header == NULL || (header->exception_class & ~(uint64_t)1) != GNU_CLASS ||
        header->handlers != 1) {
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
