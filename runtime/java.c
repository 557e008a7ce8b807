/*
 * The interface for Java machines (__tsan_java_*): their heap, locks and volatiles. An object that
 * is moved has a new life at its new place; races between accesses before and after it was moved are
 * not found.
 */
#include "annotated_lock.h"
#include "scheduler.h"
#include "writer.h"

typedef unsigned long jptr;

#define NO_EFFECT(name, parameters)                                                                \
    MR_EXPORT void __tsan_java_##name parameters;                                                  \
    void __tsan_java_##name parameters                                                             \
    {                                                                                              \
    }
NO_EFFECT(preinit, (const char *library __attribute__((unused))))
NO_EFFECT(init, (jptr heap __attribute__((unused)), jptr bytes __attribute__((unused))))

MR_EXPORT int __tsan_java_fini(void);
int __tsan_java_fini(void)
{
    return 0; /* the status to end with */
}

static void log_object(mr_log_kind kind, unsigned role, jptr address, jptr bytes, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_write_object(kind, role, (const void *)address, code, 0, bytes);
        mr_leave(thread);
    }
}

MR_EXPORT void __tsan_java_alloc(jptr address, jptr bytes);
void __tsan_java_alloc(jptr address, jptr bytes)
{
    log_object(MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, address, bytes, MR_CALLER);
}

MR_EXPORT void __tsan_java_free(jptr address, jptr bytes);
void __tsan_java_free(jptr address, jptr bytes)
{
    log_object(MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, address, bytes, MR_CALLER);
}

MR_EXPORT void __tsan_java_move(jptr from, jptr to, jptr bytes);
void __tsan_java_move(jptr from, jptr to, jptr bytes)
{
    log_object(MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, from, bytes, MR_CALLER);
    log_object(MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, to, bytes, MR_CALLER);
}

/* Objects are not looked up: there is none from `from` to `to`. */
MR_EXPORT jptr __tsan_java_find(jptr *from, jptr to);
jptr __tsan_java_find(jptr *from, jptr to)
{
    (void)from;
    (void)to;
    return 0;
}

MR_EXPORT void __tsan_java_acquire(jptr address);
void __tsan_java_acquire(jptr address)
{
    log_object(MR_LOG_AFTER, MR_LOG_ROLE_NONE, address, 0, MR_CALLER);
}

MR_EXPORT void __tsan_java_release(jptr address);
void __tsan_java_release(jptr address)
{
    log_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, address, 0, MR_CALLER);
}

MR_EXPORT void __tsan_java_release_store(jptr address);
void __tsan_java_release_store(jptr address)
{
    log_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, address, 0, MR_CALLER);
}

/* The caller runs finalizers: it comes after everything that the threads have done so far. */
MR_EXPORT void __tsan_java_finalize(void);
void __tsan_java_finalize(void)
{
    static char all;
    mr_thread *self = mr_enter();
    if (self == NULL) {
        return;
    }
    for (mr_thread *other = mr_rt.threads; other != NULL; other = other->next) {
        if (other != self && other->begun && other->state != MR_DONE) {
            mr_write_switch(other->id);
            mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, &all, MR_CALLER, 0, 0);
        }
    }
    mr_write_switch(self->id);
    mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_NONE, &all, MR_CALLER, 0, 0);
    mr_leave(self);
}

#define DEFINE_LOCK(name, use, shared)                                                             \
    MR_EXPORT void __tsan_java_mutex_##name(jptr lock);                                            \
    void __tsan_java_mutex_##name(jptr lock)                                                       \
    {                                                                                              \
        mr_annotated_lock((const void *)lock, shared, use, 1, MR_CALLER);                          \
    }
DEFINE_LOCK(lock, MR_ANNOTATED_ACQUIRES, false)
DEFINE_LOCK(unlock, MR_ANNOTATED_RELEASES, false)
DEFINE_LOCK(read_lock, MR_ANNOTATED_ACQUIRES, true)
DEFINE_LOCK(read_unlock, MR_ANNOTATED_RELEASES, true)
#undef DEFINE_LOCK

MR_EXPORT void __tsan_java_mutex_lock_rec(jptr lock, int times);
void __tsan_java_mutex_lock_rec(jptr lock, int times)
{
    if (times > 0) {
        mr_annotated_lock((const void *)lock, false, MR_ANNOTATED_ACQUIRES, (unsigned)times,
                          MR_CALLER);
    }
}

MR_EXPORT int __tsan_java_mutex_unlock_rec(jptr lock);
int __tsan_java_mutex_unlock_rec(jptr lock)
{
    return (int)mr_annotated_lock((const void *)lock, false, MR_ANNOTATED_RELEASES,
                                  MR_ANNOTATED_ALL, MR_CALLER);
}
