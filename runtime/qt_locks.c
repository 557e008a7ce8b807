/*
 * QMutex, QRecursiveMutex, QReadWriteLock, QWaitCondition and QSemaphore, where Qt is not recorded. They are locks that are tried
 * (tried_lock.h); condition variables are the runtime's own; the units of a semaphore are in the real one.
 *
 * The headers of Qt 6 take a QMutex in the program, and annotate that for ThreadSanitizer (annotated_lock.h). Who finds it taken waits in
 * the library, by a call of the kernel, which the runtime makes (futex.h). Only waits on condition variables are missing.
 */
#include "qt.h"

#include "annotated_lock.h"
#include "clocks.h"
#include "cond.h"
#include "explore.h"
#include "mutex.h"
#include "steer.h"
#include "tried_lock.h"
#include "writer.h"

#include <errno.h>
#include <limits.h>

const char *qVersion(void);

bool mr_qt_is_there(void)
{
    static int is_there; /* 0: not asked yet, -1: no */
    int known = __atomic_load_n(&is_there, __ATOMIC_RELAXED);
    if (known == 0) {
        known = mr_real_look("qVersion") != NULL ? 1 : -1;
        __atomic_store_n(&is_there, known, __ATOMIC_RELAXED);
    }
    return known > 0;
}

bool mr_qt_is_5(void)
{
    return mr_qt_is_there() && MR_REAL(qVersion)()[0] == '5';
}

/* ---- limits ---- */

enum { SECOND_NS = 1000000000, SECOND_MS = 1000, MS_NS = 1000000 };

static struct timespec time_of(int64_t value, int64_t a_second, int64_t unit_ns)
{
    value = value < 0 ? 0 : value;
    return (struct timespec){value / a_second, value % a_second * unit_ns};
}

MR_EXPORT int64_t _ZNK14QDeadlineTimer13deadlineNSecsEv(const mr_qt_deadline *deadline);
int64_t _ZNK14QDeadlineTimer13deadlineNSecsEv(const mr_qt_deadline *deadline)
{
    return MR_REAL(_ZNK14QDeadlineTimer13deadlineNSecsEv)(deadline);
}

int64_t mr_qt_limit_at(mr_qt_deadline deadline)
{
    if (deadline.seconds == INT64_MAX) {
        return MR_NEVER;
    }
    struct timespec at =
        time_of(MR_REAL(_ZNK14QDeadlineTimer13deadlineNSecsEv)(&deadline), SECOND_NS, 1);
    return mr_limit_at(CLOCK_MONOTONIC, &at);
}

int64_t mr_qt_limit_in(int64_t milliseconds)
{
    struct timespec in = time_of(milliseconds, SECOND_MS, MS_NS);
    return milliseconds < 0 ? MR_NEVER : mr_limit_in(&in);
}

int64_t mr_qt_limit_in_long(unsigned long milliseconds)
{
    return milliseconds >= INT64_MAX ? MR_NEVER : mr_qt_limit_in((int64_t)milliseconds);
}

/* ---- locks ---- */

/* The library itself takes a mutex that it shares with the program, and gives it back, by exchanges of its word: 0 is free, 1 taken, 3
 * says that others wait. Other words are recursive ones, which the library does not take. */
static void mark_mutex(void *lock)
{
    uintptr_t taken = 1;
    __atomic_compare_exchange_n((uintptr_t *)lock, &taken, 3, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
}

static const mr_tried_lock mutex_way = {MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(8), false, mark_mutex};
static const mr_tried_lock recursive_way = {MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(24), false, NULL};
static const mr_tried_lock writer_way = {MR_LOG_ROLE_RWLOCK, MR_LOG_SIZED(8), false, NULL};
static const mr_tried_lock reader_way = {MR_LOG_ROLE_RWLOCK, MR_LOG_SIZED(8), true, NULL};

/* A function that tries for a time, and another that tries once. */
#define DEFINE_TRY(name, try_once, way)                                                            \
    MR_EXPORT bool name(void *lock, int milliseconds);                                             \
    static int try_once(void *lock)                                                                \
    {                                                                                              \
        return MR_REAL(name)(lock, 0);                                                             \
    }                                                                                              \
    bool name(void *lock, int milliseconds)                                                        \
    {                                                                                              \
        mr_thread *thread = MR_QT_ENTER(name);                                                     \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name)(lock, milliseconds);                                              \
        }                                                                                          \
        bool taken;                                                                                \
        if (milliseconds == 0) {                                                                   \
            taken = mr_tried_lock_try(thread, try_once, &(way), lock, MR_CALLER);                  \
        } else {                                                                                   \
            mr_yield(thread);                                                                      \
            taken = mr_tried_lock_take(thread, try_once, &(way), lock,                             \
                                       mr_qt_limit_in(milliseconds), MR_CALLER);                   \
        }                                                                                          \
        mr_leave(thread);                                                                          \
        return taken;                                                                              \
    }
DEFINE_TRY(_ZN6QMutex7tryLockEi, try_mutex, mutex_way)
DEFINE_TRY(_ZN15QRecursiveMutex7tryLockEi, try_recursive, recursive_way)
DEFINE_TRY(_ZN14QReadWriteLock15tryLockForWriteEi, try_writer, writer_way)
DEFINE_TRY(_ZN14QReadWriteLock14tryLockForReadEi, try_reader, reader_way)
#undef DEFINE_TRY

#define DEFINE_TRY_ONCE(name, try_once, way)                                                       \
    MR_EXPORT bool name(void *lock);                                                               \
    bool name(void *lock)                                                                          \
    {                                                                                              \
        mr_thread *thread = MR_QT_ENTER(name);                                                     \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name)(lock);                                                            \
        }                                                                                          \
        bool taken = mr_tried_lock_try(thread, try_once, &(way), lock, MR_CALLER);                 \
        mr_leave(thread);                                                                          \
        return taken;                                                                              \
    }
DEFINE_TRY_ONCE(_ZN14QReadWriteLock15tryLockForWriteEv, try_writer, writer_way)
DEFINE_TRY_ONCE(_ZN14QReadWriteLock14tryLockForReadEv, try_reader, reader_way)
#undef DEFINE_TRY_ONCE

#define DEFINE_LOCK(name, try_once, way)                                                           \
    MR_EXPORT void name(void *lock);                                                               \
    void name(void *lock)                                                                          \
    {                                                                                              \
        mr_thread *thread = MR_QT_ENTER(name);                                                     \
        if (thread == NULL) {                                                                      \
            MR_REAL(name)(lock);                                                                   \
            return;                                                                                \
        }                                                                                          \
        mr_yield(thread);                                                                          \
        mr_tried_lock_take(thread, try_once, &(way), lock, MR_NEVER, MR_CALLER);                   \
        mr_leave(thread);                                                                          \
    }
DEFINE_LOCK(_ZN6QMutex4lockEv, try_mutex, mutex_way)
DEFINE_LOCK(_ZN14QReadWriteLock12lockForWriteEv, try_writer, writer_way)
DEFINE_LOCK(_ZN14QReadWriteLock11lockForReadEv, try_reader, reader_way)
#undef DEFINE_LOCK

/* Whether a QReadWriteLock is taken for reading (0) or writing, is free (2), or taken more than once by a writer. */
MR_EXPORT int _ZNK14QReadWriteLock21stateForWaitConditionEv(const void *lock);
int _ZNK14QReadWriteLock21stateForWaitConditionEv(const void *lock)
{
    return MR_REAL(_ZNK14QReadWriteLock21stateForWaitConditionEv)(lock);
}

static const mr_tried_lock *way_of(const void *lock)
{
    return MR_REAL(_ZNK14QReadWriteLock21stateForWaitConditionEv)(lock) == 0 ? &reader_way
                                                                             : &writer_way;
}

#define DEFINE_UNLOCK(name, way)                                                                   \
    MR_EXPORT void name(void *lock);                                                               \
    void name(void *lock)                                                                          \
    {                                                                                              \
        mr_thread *thread = MR_QT_ENTER(name);                                                     \
        if (thread == NULL) {                                                                      \
            MR_REAL(name)(lock);                                                                   \
            return;                                                                                \
        }                                                                                          \
        mr_yield(thread);                                                                          \
        mr_tried_lock_give(MR_REAL(name), way, lock, MR_CALLER);                                   \
        mr_leave(thread);                                                                          \
    }
DEFINE_UNLOCK(_ZN6QMutex6unlockEv, &mutex_way)
DEFINE_UNLOCK(_ZN15QRecursiveMutex6unlockEv, &recursive_way)
DEFINE_UNLOCK(_ZN14QReadWriteLock6unlockEv, way_of(lock))
#undef DEFINE_UNLOCK

/* Constructors and destructors; the log says it before. */
#define DEFINE_LIFE(name, parameters, arguments, role, number, how)                                \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        mr_thread *thread = MR_QT_ENTER(name);                                                     \
        if (thread != NULL) {                                                                      \
            mr_write_object(MR_LOG_RETIRED, role, object, MR_CALLER, how, number);                 \
        }                                                                                          \
        MR_REAL(name) arguments;                                                                   \
        if (thread != NULL) {                                                                      \
            mr_leave(thread);                                                                      \
        }                                                                                          \
    }
#define DEFINE_MADE(name, role, number)                                                            \
    DEFINE_LIFE(name, (void *object, int mode), (object, mode), role, number,                      \
                MR_LOG_RETIRED_INITIALISED)
#define DEFINE_GONE(name, role, number)                                                            \
    DEFINE_LIFE(name, (void *object), (object), role, number, MR_LOG_RETIRED_DESTROYED)
DEFINE_MADE(_ZN6QMutexC1ENS_13RecursionModeE, MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(8))
DEFINE_MADE(_ZN6QMutexC2ENS_13RecursionModeE, MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(8))
DEFINE_GONE(_ZN6QMutexD1Ev, MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(8))
DEFINE_GONE(_ZN6QMutexD2Ev, MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(8))
DEFINE_MADE(_ZN14QReadWriteLockC1ENS_13RecursionModeE, MR_LOG_ROLE_RWLOCK, MR_LOG_SIZED(8))
DEFINE_MADE(_ZN14QReadWriteLockC2ENS_13RecursionModeE, MR_LOG_ROLE_RWLOCK, MR_LOG_SIZED(8))
DEFINE_GONE(_ZN14QReadWriteLockD1Ev, MR_LOG_ROLE_RWLOCK, MR_LOG_SIZED(8))
DEFINE_GONE(_ZN14QReadWriteLockD2Ev, MR_LOG_ROLE_RWLOCK, MR_LOG_SIZED(8))
DEFINE_LIFE(_ZN14QWaitConditionC1Ev, (void *object), (object), MR_LOG_ROLE_ASLEEP, MR_LOG_SIZED(8),
            MR_LOG_RETIRED_INITIALISED)
DEFINE_LIFE(_ZN14QWaitConditionC2Ev, (void *object), (object), MR_LOG_ROLE_ASLEEP, MR_LOG_SIZED(8),
            MR_LOG_RETIRED_INITIALISED)
DEFINE_GONE(_ZN14QWaitConditionD1Ev, MR_LOG_ROLE_ASLEEP, MR_LOG_SIZED(8))
DEFINE_GONE(_ZN14QWaitConditionD2Ev, MR_LOG_ROLE_ASLEEP, MR_LOG_SIZED(8))
DEFINE_GONE(_ZN10QSemaphoreD1Ev, MR_LOG_ROLE_SEMAPHORE, 0)
DEFINE_GONE(_ZN10QSemaphoreD2Ev, MR_LOG_ROLE_SEMAPHORE, 0)
#undef DEFINE_GONE
#undef DEFINE_MADE
#undef DEFINE_LIFE

/* ---- condition variables ---- */

static int unlock_mutex(void *mutex, uintptr_t code)
{
    mr_tried_lock_give(MR_REAL(_ZN6QMutex6unlockEv), &mutex_way, mutex, code);
    return 0;
}

static int lock_mutex(mr_thread *thread, void *mutex, uintptr_t code)
{
    mr_tried_lock_take(thread, try_mutex, &mutex_way, mutex, MR_NEVER, code);
    return 0;
}

/* The same of Qt 6. The annotations are as the headers make them; a wait of the library's is one for the word. */
static int unlock_annotated(void *mutex, uintptr_t code)
{
    mr_annotated_lock_within(mutex, MR_ANNOTATED_RELEASES, code);
    __atomic_store_n((uintptr_t *)mutex, 0, __ATOMIC_SEQ_CST);
    mr_wake_key(mutex);
    return 0;
}

static int lock_annotated(mr_thread *thread, void *mutex, uintptr_t code)
{
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL);
    }
    while (__atomic_exchange_n((uintptr_t *)mutex, 3, __ATOMIC_SEQ_CST) != 0) {
        thread->wake_bits = UINT32_MAX;
        if (mr_block(thread, mutex, MR_NEVER, false) == MR_INTERRUPTED) {
            mr_attend(thread);
        }
    }
    mr_annotated_lock_within(mutex, MR_ANNOTATED_ACQUIRES, code);
    return 0;
}

static int unlock_writer(void *lock, uintptr_t code)
{
    mr_tried_lock_give(MR_REAL(_ZN14QReadWriteLock6unlockEv), &writer_way, lock, code);
    return 0;
}

static int lock_writer(mr_thread *thread, void *lock, uintptr_t code)
{
    mr_tried_lock_take(thread, try_writer, &writer_way, lock, MR_NEVER, code);
    return 0;
}

static int unlock_reader(void *lock, uintptr_t code)
{
    mr_tried_lock_give(MR_REAL(_ZN14QReadWriteLock6unlockEv), &reader_way, lock, code);
    return 0;
}

static int lock_reader(mr_thread *thread, void *lock, uintptr_t code)
{
    mr_tried_lock_take(thread, try_reader, &reader_way, lock, MR_NEVER, code);
    return 0;
}

/* False: the limit is over. */
static bool wait_with(mr_thread *thread, void *cond, const mr_cond_mutex *its, int64_t limit,
                      uintptr_t code)
{
    mr_yield(thread);
    int status = mr_cond_wait_with(thread, cond, its, limit, code);
    mr_leave(thread);
    return status != ETIMEDOUT;
}

static bool wait_mutex(mr_thread *thread, void *cond, void *mutex, int64_t limit, uintptr_t code)
{
    bool is_annotated = !mr_qt_is_5();
    mr_cond_mutex its = {mutex, MR_LOG_SIZED(8), is_annotated ? unlock_annotated : unlock_mutex,
                         is_annotated ? lock_annotated : lock_mutex, false};
    return wait_with(thread, cond, &its, limit, code);
}

static bool wait_rwlock(mr_thread *thread, void *cond, void *lock, int64_t limit, uintptr_t code)
{
    bool reads = way_of(lock)->shared;
    mr_cond_mutex its = {lock, MR_LOG_SIZED(8), reads ? unlock_reader : unlock_writer,
                         reads ? lock_reader : lock_writer, false};
    return wait_with(thread, cond, &its, limit, code);
}

/* Without a lock, or with a recursive one, the real function complains. */
static bool can_wait(const void *mutex)
{
    enum { WORDS = 4 };
    return mutex != NULL && *(const uintptr_t *)mutex < WORDS;
}

static bool can_wait_with(const void *lock)
{
    return lock != NULL && MR_REAL(_ZNK14QReadWriteLock21stateForWaitConditionEv)(lock) < 2;
}

#define DEFINE_WAIT(name, type, limit_of, can, wait)                                               \
    MR_EXPORT bool name(void *cond, void *lock, type end);                                         \
    bool name(void *cond, void *lock, type end)                                                    \
    {                                                                                              \
        mr_thread *thread = can(lock) ? MR_QT_ENTER(name) : NULL;                                  \
        return thread == NULL ? MR_REAL(name)(cond, lock, end)                                     \
                              : wait(thread, cond, lock, limit_of(end), MR_CALLER);                \
    }
DEFINE_WAIT(_ZN14QWaitCondition4waitEP6QMutex14QDeadlineTimer, mr_qt_deadline, mr_qt_limit_at,
            can_wait, wait_mutex)
DEFINE_WAIT(_ZN14QWaitCondition4waitEP6QMutexm, unsigned long, mr_qt_limit_in_long, can_wait,
            wait_mutex)
DEFINE_WAIT(_ZN14QWaitCondition4waitEP14QReadWriteLock14QDeadlineTimer, mr_qt_deadline,
            mr_qt_limit_at, can_wait_with, wait_rwlock)
DEFINE_WAIT(_ZN14QWaitCondition4waitEP14QReadWriteLockm, unsigned long, mr_qt_limit_in_long,
            can_wait_with, wait_rwlock)
#undef DEFINE_WAIT

#define DEFINE_SIGNAL(name, all)                                                                   \
    MR_EXPORT void name(void *cond);                                                               \
    void name(void *cond)                                                                          \
    {                                                                                              \
        mr_thread *thread = MR_QT_ENTER(name);                                                     \
        if (thread == NULL) {                                                                      \
            MR_REAL(name)(cond);                                                                   \
            return;                                                                                \
        }                                                                                          \
        mr_cond_signal(thread, cond, all, MR_CALLER);                                              \
        mr_leave(thread);                                                                          \
    }
DEFINE_SIGNAL(_ZN14QWaitCondition7wakeOneEv, false)
DEFINE_SIGNAL(_ZN14QWaitCondition7wakeAllEv, true)
#undef DEFINE_SIGNAL

/* ---- semaphores ---- */

static void log_units(mr_log_kind kind, const void *semaphore, int units, uintptr_t code)
{
    enum { A_RECORD = 65535 };
    while (units > 0) {
        unsigned count = units < A_RECORD ? (unsigned)units : A_RECORD;
        mr_write_object(kind, MR_LOG_ROLE_SEMAPHORE, semaphore, code, count, 0);
        units -= (int)count;
    }
}

#define DEFINE_SEMAPHORE(name)                                                                     \
    MR_EXPORT void name(void *semaphore, int units);                                               \
    void name(void *semaphore, int units)                                                          \
    {                                                                                              \
        mr_thread *thread = MR_QT_ENTER(name);                                                     \
        MR_REAL(name)(semaphore, units);                                                           \
        if (thread != NULL) {                                                                      \
            mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_SEMAPHORE, semaphore, MR_CALLER,           \
                            MR_LOG_RETIRED_INITIALISED, 0);                                        \
            log_units(MR_LOG_POST, semaphore, units, MR_CALLER);                                   \
            mr_leave(thread);                                                                      \
        }                                                                                          \
    }
DEFINE_SEMAPHORE(_ZN10QSemaphoreC1Ei)
DEFINE_SEMAPHORE(_ZN10QSemaphoreC2Ei)
#undef DEFINE_SEMAPHORE

MR_EXPORT bool _ZN10QSemaphore10tryAcquireEi(void *semaphore, int units);

static bool try_units(void *semaphore, int units, bool tries, uintptr_t code)
{
    bool taken = MR_REAL(_ZN10QSemaphore10tryAcquireEi)(semaphore, units);
    if (taken && tries) {
        mr_explore_choice(MR_LOG_CHOICE_TRY, MR_LOG_ROLE_SEMAPHORE, semaphore, code, 0);
    }
    if (taken) {
        log_units(MR_LOG_WAIT, semaphore, units, code);
    }
    return taken;
}

static bool take_units(mr_thread *thread, void *semaphore, int units, int64_t limit, uintptr_t code)
{
    bool taken;
    mr_yield(thread);
    while (!(taken = try_units(semaphore, units, limit != MR_NEVER, code))) {
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_SEMAPHORE, semaphore, code,
                        mr_explore_wait(limit, false), 0);
        mr_wake_reason reason = mr_block(thread, semaphore, limit, false);
        if (reason == MR_TIMED_OUT) {
            mr_explore_failed(MR_LOG_ROLE_SEMAPHORE, semaphore, code, false);
            break;
        }
        if (reason == MR_INTERRUPTED) {
            mr_attend(thread);
        }
    }
    mr_leave(thread);
    return taken;
}

static bool try_once_for(mr_thread *thread, void *semaphore, int units, uintptr_t code)
{
    mr_yield(thread);
    bool taken = (!mr_steers() || mr_steer_expects(thread, MR_LOG_WAIT) != 0) &&
                 try_units(semaphore, units, true, code);
    if (!taken) {
        mr_explore_failed(MR_LOG_ROLE_SEMAPHORE, semaphore, code, false);
    }
    mr_leave(thread);
    return taken;
}

bool _ZN10QSemaphore10tryAcquireEi(void *semaphore, int units)
{
    mr_thread *thread = MR_QT_ENTER(_ZN10QSemaphore10tryAcquireEi);
    return thread == NULL ? MR_REAL(_ZN10QSemaphore10tryAcquireEi)(semaphore, units)
                          : try_once_for(thread, semaphore, units, MR_CALLER);
}

MR_EXPORT bool _ZN10QSemaphore10tryAcquireEii(void *semaphore, int units, int milliseconds);
bool _ZN10QSemaphore10tryAcquireEii(void *semaphore, int units, int milliseconds)
{
    mr_thread *thread = MR_QT_ENTER(_ZN10QSemaphore10tryAcquireEii);
    if (thread == NULL) {
        return MR_REAL(_ZN10QSemaphore10tryAcquireEii)(semaphore, units, milliseconds);
    }
    return milliseconds == 0
               ? try_once_for(thread, semaphore, units, MR_CALLER)
               : take_units(thread, semaphore, units, mr_qt_limit_in(milliseconds), MR_CALLER);
}

MR_EXPORT void _ZN10QSemaphore7acquireEi(void *semaphore, int units);
void _ZN10QSemaphore7acquireEi(void *semaphore, int units)
{
    mr_thread *thread = MR_QT_ENTER(_ZN10QSemaphore7acquireEi);
    if (thread == NULL) {
        MR_REAL(_ZN10QSemaphore7acquireEi)(semaphore, units);
    } else {
        take_units(thread, semaphore, units, MR_NEVER, MR_CALLER);
    }
}

MR_EXPORT void _ZN10QSemaphore7releaseEi(void *semaphore, int units);
void _ZN10QSemaphore7releaseEi(void *semaphore, int units)
{
    mr_thread *thread = MR_QT_ENTER(_ZN10QSemaphore7releaseEi);
    if (thread == NULL) {
        MR_REAL(_ZN10QSemaphore7releaseEi)(semaphore, units);
        return;
    }
    mr_yield(thread);
    log_units(MR_LOG_POST, semaphore, units, MR_CALLER);
    MR_REAL(_ZN10QSemaphore7releaseEi)(semaphore, units);
    mr_wake_key(semaphore);
    mr_leave(thread);
}

/* Who asks for the number of units sees how many there are. */
MR_EXPORT int _ZNK10QSemaphore9availableEv(const void *semaphore);
int _ZNK10QSemaphore9availableEv(const void *semaphore)
{
    mr_thread *thread = MR_QT_ENTER(_ZNK10QSemaphore9availableEv);
    int units = MR_REAL(_ZNK10QSemaphore9availableEv)(semaphore);
    if (thread != NULL) {
        mr_write_object(MR_LOG_USED, MR_LOG_ROLE_SEMAPHORE, semaphore, MR_CALLER, MR_LOG_USED_ASKED,
                        0);
        mr_leave(thread);
    }
    return units;
}
