/*
 * The pools of libstdc++ (std::pmr::synchronized_pool_resource and unsynchronized_pool_resource) give out parts of larger blocks, and
 * give them out again. The library is not instrumented, so nothing would say that a part was given back before another thread got it:
 * who gives a part back comes before who gets it next. A pool without a lock is used by one thread at a time: each use is a write of
 * what stands for the pool.
 */
#include "ignore.h"
#include "memory.h"
#include "real.h"
#include "scheduler.h"
#include "steer.h"
#include "writer.h"

/* Of an unsynchronized_pool_resource: where its list of large blocks begins. No function of the headers accesses that; the word before is
 * what upstream_resource() reads. */
enum { POOL_AT = 32, WORD = 3 };

static void log_use(mr_thread *thread, void *pool, uintptr_t code)
{
    const char *at = (const char *)pool + POOL_AT;
    if (mr_steers()) {
        mr_steer_call_begins(thread);
        mr_steer_call_access(thread, at, (unsigned)mr_log_head(MR_LOG_WRITE, WORD, 0), code);
        mr_steer_call_is_made(thread);
    }
    if (!mr_ignores_writes(thread)) {
        mr_write_access(MR_LOG_WRITE, WORD, at, mr_load(at, WORD), code);
    }
}

static void leave(mr_thread *thread, uintptr_t code)
{
    if (thread != NULL) {
        thread->caller = code;
        mr_leave(thread);
    }
}

static void back(mr_thread *thread)
{
    if (thread != NULL) {
        thread->caller = 0;
        mr_enter();
    }
}

#define POOL(kind, is_locked)                                                                      \
    MR_EXPORT void *_ZNSt3pmr##kind##11do_allocateEmm(void *pool, size_t bytes, size_t alignment); \
    void *_ZNSt3pmr##kind##11do_allocateEmm(void *pool, size_t bytes, size_t alignment)            \
    {                                                                                              \
        mr_thread *thread = mr_memory_begin(MR_CALLER);                                            \
        if (thread != NULL && !(is_locked)) {                                                      \
            log_use(thread, pool, MR_CALLER);                                                      \
        }                                                                                          \
        leave(thread, MR_CALLER);                                                                  \
        void *result = MR_REAL(_ZNSt3pmr##kind##11do_allocateEmm)(pool, bytes, alignment);         \
        back(thread);                                                                              \
        if (thread != NULL) {                                                                      \
            mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_NONE, result, MR_CALLER, 0, 0);              \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
    MR_EXPORT void _ZNSt3pmr##kind##13do_deallocateEPvmm(void *pool, void *part, size_t bytes,     \
                                                         size_t alignment);                        \
    void _ZNSt3pmr##kind##13do_deallocateEPvmm(void *pool, void *part, size_t bytes,               \
                                               size_t alignment)                                   \
    {                                                                                              \
        mr_thread *thread = mr_memory_begin(MR_CALLER);                                            \
        if (thread != NULL) {                                                                      \
            if (!(is_locked)) {                                                                    \
                log_use(thread, pool, MR_CALLER);                                                  \
            }                                                                                      \
            mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, part, MR_CALLER, 0, 0);               \
        }                                                                                          \
        leave(thread, MR_CALLER);                                                                  \
        MR_REAL(_ZNSt3pmr##kind##13do_deallocateEPvmm)(pool, part, bytes, alignment);              \
        back(thread);                                                                              \
        if (thread != NULL) {                                                                      \
            mr_leave(thread);                                                                      \
        }                                                                                          \
    }
POOL(26synchronized_pool_resource, true)
POOL(28unsynchronized_pool_resource, false)
