#include "annotated_lock.h"

#include "ignore.h"
#include "scheduler.h"
#include "sys.h"
#include "writer.h"

/* Flags of __tsan_mutex_*, as in <sanitizer/tsan_interface.h>. */
enum {
    LINKER_INIT = 1 << 0,
    WRITE_REENTRANT = 1 << 1,
    READ_LOCK = 1 << 3,
    TRY = 1 << 4,
    TRY_FAILED = 1 << 5,
    RECURSIVE_LOCK = 1 << 6,
    RECURSIVE_UNLOCK = 1 << 7,
    NOT_STATIC = 1 << 8,
};

typedef struct holding {
    const void *lock; /* NULL: free entry */
    uint32_t thread;
    bool shared;
    unsigned depth;
    struct holding *next;
} holding;

static holding *holdings;
static bool knows_all_holdings = true; /* not in the child of a fork */

/* With which flags locks were created. A lock takes the place of another one with the same hash,
 * of which nothing is known then. */
enum { CREATIONS_LOG2 = 12 };
static struct {
    const void *lock;
    unsigned flags;
} creations[1 << CREATIONS_LOG2];

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

static size_t place_of(const void *lock)
{
    return (uint64_t)lock * 0x9e3779b97f4a7c15u >> (64 - CREATIONS_LOG2);
}

static void note_creation(const void *lock, unsigned flags)
{
    creations[place_of(lock)].lock = lock;
    creations[place_of(lock)].flags = flags;
}

/* False: it is not known. */
static bool creation_of(const void *lock, unsigned *flags)
{
    *flags = creations[place_of(lock)].flags;
    return creations[place_of(lock)].lock == lock;
}

/* The thread uses the lock against its rules. */
static void wrong(const mr_thread *thread, const void *lock, mr_log_wrong how, uintptr_t code)
{
    if (!mr_ignores_sync(thread)) {
        mr_write_object(MR_LOG_USED, MR_LOG_ROLE_WRONG, lock, code, how, 0);
    }
}

static void acquire(const mr_thread *thread, const void *lock, bool shared, bool tries,
                    unsigned times, uintptr_t code)
{
    holding *entry = find(lock, thread->id, shared);
    unsigned flags;
    if (is_taken(lock, thread->id, shared)) {
        wrong(thread, lock, MR_LOG_WRONG_ACQUIRE, code);
        return;
    }
    if (shared && find(lock, thread->id, false) != NULL &&
        !(creation_of(lock, &flags) && (flags & WRITE_REENTRANT) != 0)) {
        wrong(thread, lock, MR_LOG_WRONG_ACQUIRE, code);
    }
    if (entry == NULL && (entry = free_entry()) == NULL) {
        return;
    }
    if (entry->lock == NULL) {
        *entry = (holding){lock, thread->id, shared, 0, entry->next};
    }
    for (unsigned i = 0; i < times; i++) {
        entry->depth++;
        mr_write_object(shared ? MR_LOG_SHARED_ACQUIRE : MR_LOG_ACQUIRE, MR_LOG_ROLE_OWN, lock,
                        code, tries ? MR_LOG_TRIED : 0, 0);
    }
}

/* Returns how often. */
static unsigned release(const mr_thread *thread, const void *lock, bool shared, unsigned times,
                        uintptr_t code)
{
    holding *entry = find(lock, thread->id, shared);
    unsigned done = 0;
    if (entry == NULL && (entry = find(lock, thread->id, !shared)) != NULL) {
        wrong(thread, lock, MR_LOG_WRONG_MODE, code);
        shared = !shared;
    }
    while (entry != NULL && entry->lock != NULL && done < times) {
        done++;
        mr_write_object(shared ? MR_LOG_SHARED_RELEASE : MR_LOG_RELEASE, MR_LOG_ROLE_OWN, lock,
                        code, 0, 0);
        if (--entry->depth == 0) {
            entry->lock = NULL;
        }
    }
    return done;
}

unsigned mr_annotated_lock(const void *lock, bool shared, mr_annotated_use use, unsigned times,
                           uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return 0;
    }
    mr_yield(thread);
    unsigned done = times;
    if (use != MR_ANNOTATED_RELEASES) {
        acquire(thread, lock, shared, use == MR_ANNOTATED_TRIES, times, code);
    } else {
        done = release(thread, lock, shared, times, code);
    }
    mr_leave(thread);
    return done;
}

void mr_annotated_lock_within(const void *lock, mr_annotated_use use, uintptr_t code)
{
    if (use == MR_ANNOTATED_RELEASES) {
        release(mr_self, lock, false, 1, code);
    } else {
        acquire(mr_self, lock, false, use == MR_ANNOTATED_TRIES, 1, code);
    }
}

/* A release of a lock that does not move. */
static unsigned release_held(const void *lock, bool shared, unsigned times, uintptr_t code)
{
    unsigned done = mr_annotated_lock(lock, shared, MR_ANNOTATED_RELEASES, times, code);
    mr_thread *thread = done == 0 && knows_all_holdings ? mr_enter() : NULL;
    if (thread != NULL) {
        wrong(thread, lock, MR_LOG_WRONG_RELEASE, code);
        mr_leave(thread);
    }
    return done;
}

void mr_annotated_lock_forget(void)
{
    for (holding *at = holdings; at != NULL; at = at->next) {
        at->lock = NULL;
    }
    knows_all_holdings = false;
}

/* A new lock is at the address; without what it may have been before, when it is static. */
static void create(const void *lock, unsigned flags, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return;
    }
    note_creation(lock, flags);
    if ((flags & LINKER_INIT) != 0) {
        mr_leave(thread);
        return;
    }
    for (holding *at = holdings; at != NULL; at = at->next) {
        if (at->lock == lock) {
            at->lock = NULL;
        }
    }
    mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_OWN, lock, code, MR_LOG_RETIRED_KNOWN, 0);
    mr_leave(thread);
}

MR_EXPORT void __tsan_mutex_create(void *lock, unsigned flags);
void __tsan_mutex_create(void *lock, unsigned flags)
{
    create(lock, flags, MR_CALLER);
}

/* Is the lock held, and one that must not be used after its end? */
static bool ends_held(const void *lock, unsigned flags)
{
    unsigned created;
    return is_taken(lock, UINT32_MAX, false) && creation_of(lock, &created) &&
           ((flags | created) & LINKER_INIT) == 0 && (flags & ~created & NOT_STATIC) == 0;
}

/* The lock stays what it is: one that is static can be used after it, and a new one is known by its
 * create. */
static void destroy(const void *lock, unsigned flags, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return;
    }
    if (ends_held(lock, flags)) {
        wrong(thread, lock, MR_LOG_WRONG_DESTROY, code);
    }
    mr_leave(thread);
}

MR_EXPORT void __tsan_mutex_destroy(void *lock, unsigned flags);
void __tsan_mutex_destroy(void *lock, unsigned flags)
{
    destroy(lock, flags, MR_CALLER);
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
        mr_annotated_use use = (flags & TRY) != 0 ? MR_ANNOTATED_TRIES : MR_ANNOTATED_ACQUIRES;
        mr_annotated_lock(lock, (flags & READ_LOCK) != 0, use, times, MR_CALLER);
    }
}

MR_EXPORT int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags)
{
    unsigned times = (flags & RECURSIVE_UNLOCK) != 0 ? MR_ANNOTATED_ALL : 1;
    unsigned done = release_held(lock, (flags & READ_LOCK) != 0, times, MR_CALLER);
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
              create((const void *)lock, 0, MR_CALLER))
DEFINE_RWLOCK(CreateStatic, (const char *file, int line, const volatile void *lock),
              create((const void *)lock, LINKER_INIT, MR_CALLER))
DEFINE_RWLOCK(Destroy, (const char *file, int line, const volatile void *lock),
              destroy((const void *)lock, 0, MR_CALLER))
DEFINE_RWLOCK(Acquired, (const char *file, int line, const volatile void *lock, long writes),
              mr_annotated_lock((const void *)lock, writes == 0, MR_ANNOTATED_ACQUIRES, 1,
                                MR_CALLER))
DEFINE_RWLOCK(Released, (const char *file, int line, const volatile void *lock, long writes),
              release_held((const void *)lock, writes == 0, 1, MR_CALLER))
#undef DEFINE_RWLOCK
