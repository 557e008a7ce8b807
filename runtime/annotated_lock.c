#include "annotated_lock.h"

#include "ignore.h"
#include "scheduler.h"
#include "sys.h"
#include "writer.h"

/* Flags of __tsan_mutex_*, as in <sanitizer/tsan_interface.h>. */
enum {
    LINKER_INIT = 1 << 0,
    READ_LOCK = 1 << 3,
    TRY_FAILED = 1 << 5,
    RECURSIVE_LOCK = 1 << 6,
    RECURSIVE_UNLOCK = 1 << 7,
};

typedef struct holding {
    const void *lock; /* NULL: free entry */
    uint32_t thread;
    bool shared;
    unsigned depth;
    struct holding *next;
} holding;

static holding *holdings;

static holding *find(const void *lock, uint32_t thread, bool shared)
{
    holding *at = holdings;
    while (at != NULL && (at->lock != lock || at->thread != thread || at->shared != shared)) {
        at = at->next;
    }
    return at;
}

/* Does another thread hold the lock in a way that excludes this one? */
static bool is_taken(const void *lock, uint32_t thread, bool shared)
{
    for (const holding *at = holdings; at != NULL; at = at->next) {
        if (at->lock == lock && at->thread != thread && !(at->shared && shared)) {
            return true;
        }
    }
    return false;
}

static holding *free_entry(void)
{
    holding *at = holdings;
    while (at != NULL && at->lock != NULL) {
        at = at->next;
    }
    if (at != NULL) {
        return at;
    }
    holding *page = mr_pages(4096);
    for (size_t i = 0; page != NULL && i < 4096 / sizeof *page; i++) {
        page[i].next = holdings;
        holdings = &page[i];
    }
    return page;
}

static void acquire(const mr_thread *thread, const void *lock, bool shared, unsigned times,
                    uintptr_t code)
{
    holding *entry = find(lock, thread->id, shared);
    if (is_taken(lock, thread->id, shared)) {
        return;
    }
    if (entry == NULL && (entry = free_entry()) == NULL) {
        return;
    }
    if (entry->lock == NULL) {
        *entry = (holding){lock, thread->id, shared, 0, entry->next};
    }
    for (unsigned i = 0; i < times; i++) {
        entry->depth++;
        mr_write_object(shared ? MR_LOG_SHARED_ACQUIRE : MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, lock,
                        code, 0, 0);
    }
}

/* Returns how often. */
static unsigned release(const mr_thread *thread, const void *lock, bool shared, unsigned times,
                        uintptr_t code)
{
    holding *entry = find(lock, thread->id, shared);
    unsigned done = 0;
    while (entry != NULL && entry->lock != NULL && done < times) {
        done++;
        mr_write_object(shared ? MR_LOG_SHARED_RELEASE : MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, lock,
                        code, 0, 0);
        if (--entry->depth == 0) {
            entry->lock = NULL;
        }
    }
    return done;
}

unsigned mr_annotated_lock(const void *lock, bool shared, bool acquires, unsigned times,
                           uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return 0;
    }
    mr_yield(thread);
    unsigned done = times;
    if (acquires) {
        acquire(thread, lock, shared, times, code);
    } else {
        done = release(thread, lock, shared, times, code);
    }
    mr_leave(thread);
    return done;
}

/* A new lock is at the address. */
static void retire(const void *lock, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return;
    }
    for (holding *at = holdings; at != NULL; at = at->next) {
        if (at->lock == lock) {
            at->lock = NULL;
        }
    }
    mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_MUTEX, lock, code, MR_LOG_RETIRED_INITIALISED, 0);
    mr_leave(thread);
}

MR_EXPORT void __tsan_mutex_create(void *lock, unsigned flags);
void __tsan_mutex_create(void *lock, unsigned flags)
{
    if ((flags & LINKER_INIT) == 0) {
        retire(lock, MR_CALLER);
    }
}

/* A lock can be used after it (LINKER_INIT when created), and a new one is known by its create. */
MR_EXPORT void __tsan_mutex_destroy(void *lock, unsigned flags);
void __tsan_mutex_destroy(void *lock, unsigned flags)
{
    (void)lock;
    (void)flags;
}

static void ignore_inside(int change)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        if (change > 0 ||
            (thread->ignores.sync > 0 && thread->ignores.reads > 0 && thread->ignores.writes > 0)) {
            mr_ignore(thread, change, change, change);
        }
        mr_leave(thread);
    }
}

MR_EXPORT void __tsan_mutex_pre_lock(void *lock, unsigned flags);
void __tsan_mutex_pre_lock(void *lock, unsigned flags)
{
    (void)lock;
    (void)flags;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        mr_leave(thread);
    }
    ignore_inside(1);
}

MR_EXPORT void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion);
void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion)
{
    ignore_inside(-1);
    if ((flags & TRY_FAILED) == 0) {
        unsigned times = (flags & RECURSIVE_LOCK) != 0 && recursion > 0 ? (unsigned)recursion : 1;
        mr_annotated_lock(lock, (flags & READ_LOCK) != 0, true, times, MR_CALLER);
    }
}

MR_EXPORT int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags)
{
    unsigned times = (flags & RECURSIVE_UNLOCK) != 0 ? MR_ANNOTATED_ALL : 1;
    unsigned done = mr_annotated_lock(lock, (flags & READ_LOCK) != 0, false, times, MR_CALLER);
    ignore_inside(1);
    return (int)done;
}

MR_EXPORT void __tsan_mutex_post_unlock(void *lock, unsigned flags);
void __tsan_mutex_post_unlock(void *lock, unsigned flags)
{
    (void)lock;
    (void)flags;
    ignore_inside(-1);
}

/* The lock's own work as part of a condition variable, and calls out of such work. */
#define DEFINE_INSIDE(name, change)                                                                \
    MR_EXPORT void __tsan_mutex_##name(void *lock, unsigned flags);                                \
    void __tsan_mutex_##name(void *lock, unsigned flags)                                           \
    {                                                                                              \
        (void)lock;                                                                                \
        (void)flags;                                                                               \
        ignore_inside(change);                                                                     \
    }
DEFINE_INSIDE(pre_signal, 1)
DEFINE_INSIDE(post_signal, -1)
DEFINE_INSIDE(pre_divert, -1)
DEFINE_INSIDE(post_divert, 1)
#undef DEFINE_INSIDE

#define DEFINE_RWLOCK(name, parameters, statement)                                                 \
    MR_EXPORT void AnnotateRWLock##name parameters;                                                \
    void AnnotateRWLock##name parameters                                                           \
    {                                                                                              \
        (void)file;                                                                                \
        (void)line;                                                                                \
        statement;                                                                                 \
    }
DEFINE_RWLOCK(Create, (const char *file, int line, const volatile void *lock),
              retire((const void *)lock, MR_CALLER))
DEFINE_RWLOCK(CreateStatic, (const char *file, int line, const volatile void *lock), (void)lock)
DEFINE_RWLOCK(Destroy, (const char *file, int line, const volatile void *lock), (void)lock)
DEFINE_RWLOCK(Acquired, (const char *file, int line, const volatile void *lock, long writes),
              mr_annotated_lock((const void *)lock, writes == 0, true, 1, MR_CALLER))
DEFINE_RWLOCK(Released, (const char *file, int line, const volatile void *lock, long writes),
              mr_annotated_lock((const void *)lock, writes == 0, false, 1, MR_CALLER))
#undef DEFINE_RWLOCK
