/*
 * pthread_once and the guards of static variables of functions (Itanium C++ ABI, 3.3.2), as atomic
 * variables: an update by who initialises, a write when it is done, a read by who comes later.
 *
 * A pthread_once_t is 0 at first, 1 during the initialisation and 2 afterwards (2 in glibc, too). A
 * guard is 64 bits; its first byte is 1 afterwards, which the compiled code tests itself; its
 * second byte is 1 during the initialisation.
 */
#include "explore.h"
#include "real.h"
#include "scheduler.h"
#include "writer.h"

enum { FIRST = 0, RUNNING = 1, DONE = 2 };

static void log_update(const void *address, unsigned log2, int64_t before, int64_t after,
                       uintptr_t code)
{
    mr_writer_settle();
    uint64_t *record = mr_writer_room();
    record[0] =
        mr_log_head(MR_LOG_ATOMIC_UPDATE, log2 | 5u << MR_LOG_ORDER_SHIFT, (uint64_t)address);
    record[1] = (uint64_t)code;
    record[2] = (uint64_t)before;
    record[3] = (uint64_t)after;
    mr_writer_advance(record + 4);
}

static void log_access(mr_log_kind kind, const void *address, unsigned log2, int64_t value,
                       uintptr_t code)
{
    mr_write_access(kind, log2 | 5u << MR_LOG_ORDER_SHIFT, address, value, code);
}

static void wait_for(mr_thread *thread, const void *key)
{
    if (mr_block(thread, key, MR_NEVER, false) == MR_INTERRUPTED) {
        mr_attend(thread);
    }
}

/* The initialisation was left by an exception or a cancellation: another thread may try. */
static void give_up(pthread_once_t **running)
{
    if (*running == NULL) {
        return;
    }
    mr_thread *thread = mr_enter();
    __atomic_store_n(*running, FIRST, __ATOMIC_RELEASE);
    if (thread != NULL) {
        log_access(MR_LOG_ATOMIC_WRITE, *running, 2, FIRST, MR_CALLER);
        mr_wake_key(*running);
        mr_leave(thread);
    }
}

MR_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_once)(control, routine);
    }
    mr_yield(thread);
    while (*control != FIRST && *control != DONE) {
        wait_for(thread, control);
    }
    mr_explore_choice(MR_LOG_CHOICE_ONCE, MR_LOG_ROLE_NONE, control, MR_CALLER, 0);
    if (*control == DONE) {
        log_access(MR_LOG_ATOMIC_READ, control, 2, DONE, MR_CALLER);
        mr_leave(thread);
        return 0;
    }
    log_update(control, 2, FIRST, RUNNING, MR_CALLER);
    __atomic_store_n(control, RUNNING, __ATOMIC_RELAXED);
    mr_leave(thread);
    pthread_once_t *running __attribute__((cleanup(give_up))) = control;
    routine();
    running = NULL;
    thread = mr_enter();
    __atomic_store_n(control, DONE, __ATOMIC_RELEASE);
    if (thread != NULL) {
        log_access(MR_LOG_ATOMIC_WRITE, control, 2, DONE, MR_CALLER);
        mr_wake_key(control);
        mr_leave(thread);
    }
    return 0;
}

MR_EXPORT int __cxa_guard_acquire(uint8_t *guard);
int __cxa_guard_acquire(uint8_t *guard)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(__cxa_guard_acquire)(guard);
    }
    mr_yield(thread);
    while (guard[0] == 0 && guard[1] != 0) {
        wait_for(thread, guard);
    }
    bool first = guard[0] == 0;
    if (first) {
        guard[1] = 1;
        log_update(guard + 1, 0, 0, 1, MR_CALLER);
    } else {
        log_access(MR_LOG_ATOMIC_READ, guard, 0, 1, MR_CALLER);
    }
    mr_leave(thread);
    return first;
}

static void end_guard(mr_thread *thread, uint8_t *guard, uint8_t done, uintptr_t code)
{
    guard[1] = 0;
    log_access(MR_LOG_ATOMIC_WRITE, guard + 1, 0, 0, code);
    if (done) {
        __atomic_store_n(guard, 1, __ATOMIC_RELEASE);
        log_access(MR_LOG_ATOMIC_WRITE, guard, 0, 1, code);
    }
    mr_wake_key(guard);
    mr_leave(thread);
}

MR_EXPORT void __cxa_guard_release(uint8_t *guard);
void __cxa_guard_release(uint8_t *guard)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        MR_REAL(__cxa_guard_release)(guard);
        return;
    }
    end_guard(thread, guard, 1, MR_CALLER);
}

MR_EXPORT void __cxa_guard_abort(uint8_t *guard);
void __cxa_guard_abort(uint8_t *guard)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        MR_REAL(__cxa_guard_abort)(guard);
        return;
    }
    end_guard(thread, guard, 0, MR_CALLER);
}
