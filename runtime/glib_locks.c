/*
 * Locks and condition variables of GLib, where the library is not recorded. They are in its own assembly and in calls inside the
 * library, which nobody else sees. As with mutexes (mutex.h) the state of a lock stays in the lock: the real functions try and unlock,
 * and who finds it taken waits in the runtime. Condition variables are the runtime's own.
 */
#include "glib.h"

#include "clocks.h"
#include "cond.h"
#include "explore.h"
#include "mutex.h"
#include "steer.h"
#include "tried_lock.h"
#include "writer.h"

#include <errno.h>

static const mr_tried_lock mutex_way = {MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(8), false, NULL};
static const mr_tried_lock recursive_way = {MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(16), false, NULL};
static const mr_tried_lock writer_way = {MR_LOG_ROLE_RWLOCK, MR_LOG_SIZED(16), false, NULL};
static const mr_tried_lock reader_way = {MR_LOG_ROLE_RWLOCK, MR_LOG_SIZED(16), true, NULL};

#define DEFINE_TRY(name, way)                                                                      \
    MR_EXPORT int name(void *lock);                                                                \
    int name(void *lock)                                                                           \
    {                                                                                              \
        mr_thread *thread = MR_GLIB_ENTER(name);                                                   \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name)(lock);                                                            \
        }                                                                                          \
        int taken = mr_tried_lock_try(thread, MR_REAL(name), &(way), lock, MR_CALLER);             \
        mr_leave(thread);                                                                          \
        return taken;                                                                              \
    }
DEFINE_TRY(g_mutex_trylock, mutex_way)
DEFINE_TRY(g_rec_mutex_trylock, recursive_way)
DEFINE_TRY(g_rw_lock_writer_trylock, writer_way)
DEFINE_TRY(g_rw_lock_reader_trylock, reader_way)
#undef DEFINE_TRY

#define DEFINE_LOCK(name, try_name, way)                                                           \
    MR_EXPORT void name(void *lock);                                                               \
    void name(void *lock)                                                                          \
    {                                                                                              \
        mr_thread *thread = MR_GLIB_ENTER(name);                                                   \
        if (thread == NULL) {                                                                      \
            MR_REAL(name)(lock);                                                                   \
            return;                                                                                \
        }                                                                                          \
        mr_yield(thread);                                                                          \
        mr_tried_lock_take(thread, MR_REAL(try_name), &(way), lock, MR_NEVER, MR_CALLER);          \
        mr_leave(thread);                                                                          \
    }
DEFINE_LOCK(g_mutex_lock, g_mutex_trylock, mutex_way)
DEFINE_LOCK(g_rec_mutex_lock, g_rec_mutex_trylock, recursive_way)
DEFINE_LOCK(g_rw_lock_writer_lock, g_rw_lock_writer_trylock, writer_way)
DEFINE_LOCK(g_rw_lock_reader_lock, g_rw_lock_reader_trylock, reader_way)
#undef DEFINE_LOCK

#define DEFINE_UNLOCK(name, way)                                                                   \
    MR_EXPORT void name(void *lock);                                                               \
    void name(void *lock)                                                                          \
    {                                                                                              \
        mr_thread *thread = MR_GLIB_ENTER(name);                                                   \
        if (thread == NULL) {                                                                      \
            MR_REAL(name)(lock);                                                                   \
            return;                                                                                \
        }                                                                                          \
        mr_yield(thread);                                                                          \
        mr_tried_lock_give(MR_REAL(name), &(way), lock, MR_CALLER);                                \
        mr_leave(thread);                                                                          \
    }
DEFINE_UNLOCK(g_mutex_unlock, mutex_way)
DEFINE_UNLOCK(g_rec_mutex_unlock, recursive_way)
DEFINE_UNLOCK(g_rw_lock_writer_unlock, writer_way)
DEFINE_UNLOCK(g_rw_lock_reader_unlock, reader_way)
#undef DEFINE_UNLOCK

/* The log says it before: GLib ends a program that clears a lock that is taken. */
#define DEFINE_LIFE(name, role, number, how)                                                       \
    MR_EXPORT void name(void *object);                                                             \
    void name(void *object)                                                                        \
    {                                                                                              \
        mr_thread *thread = MR_GLIB_ENTER(name);                                                   \
        if (thread != NULL) {                                                                      \
            mr_write_object(MR_LOG_RETIRED, role, object, MR_CALLER, how, number);                 \
        }                                                                                          \
        MR_REAL(name)(object);                                                                     \
        if (thread != NULL) {                                                                      \
            mr_leave(thread);                                                                      \
        }                                                                                          \
    }
DEFINE_LIFE(g_mutex_init, MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(8), MR_LOG_RETIRED_INITIALISED)
DEFINE_LIFE(g_mutex_clear, MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(8), MR_LOG_RETIRED_DESTROYED)
DEFINE_LIFE(g_rec_mutex_init, MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(16), MR_LOG_RETIRED_INITIALISED)
DEFINE_LIFE(g_rec_mutex_clear, MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(16), MR_LOG_RETIRED_DESTROYED)
DEFINE_LIFE(g_rw_lock_init, MR_LOG_ROLE_RWLOCK, MR_LOG_SIZED(16), MR_LOG_RETIRED_INITIALISED)
DEFINE_LIFE(g_rw_lock_clear, MR_LOG_ROLE_RWLOCK, MR_LOG_SIZED(16), MR_LOG_RETIRED_DESTROYED)
DEFINE_LIFE(g_cond_init, MR_LOG_ROLE_ASLEEP, MR_LOG_SIZED(16), MR_LOG_RETIRED_INITIALISED)
DEFINE_LIFE(g_cond_clear, MR_LOG_ROLE_ASLEEP, MR_LOG_SIZED(16), MR_LOG_RETIRED_DESTROYED)
#undef DEFINE_LIFE

static int unlock_of_wait(void *mutex, uintptr_t code)
{
    mr_tried_lock_give(MR_REAL(g_mutex_unlock), &mutex_way, mutex, code);
    return 0;
}

static int lock_of_wait(mr_thread *thread, void *mutex, uintptr_t code)
{
    mr_tried_lock_take(thread, MR_REAL(g_mutex_trylock), &mutex_way, mutex, MR_NEVER, code);
    return 0;
}

/* False: the limit was over. */
static int wait_until(mr_thread *thread, void *cond, void *mutex, int64_t limit, uintptr_t code)
{
    mr_cond_mutex its = {mutex, MR_LOG_SIZED(16), unlock_of_wait, lock_of_wait, false};
    mr_yield(thread);
    int status = mr_cond_wait_with(thread, cond, &its, limit, code);
    mr_leave(thread);
    return status != ETIMEDOUT;
}

MR_EXPORT void g_cond_wait(void *cond, void *mutex);
void g_cond_wait(void *cond, void *mutex)
{
    mr_thread *thread = MR_GLIB_ENTER(g_cond_wait);
    if (thread == NULL) {
        MR_REAL(g_cond_wait)(cond, mutex);
        return;
    }
    wait_until(thread, cond, mutex, MR_NEVER, MR_CALLER);
}

static struct timespec time_at(int64_t microseconds)
{
    enum { SECOND = 1000000 };
    microseconds = microseconds < 0 ? 0 : microseconds;
    return (struct timespec){microseconds / SECOND, microseconds % SECOND * 1000};
}

MR_EXPORT int g_cond_wait_until(void *cond, void *mutex, int64_t end_us);
int g_cond_wait_until(void *cond, void *mutex, int64_t end_us)
{
    mr_thread *thread = MR_GLIB_ENTER(g_cond_wait_until);
    if (thread == NULL) {
        return MR_REAL(g_cond_wait_until)(cond, mutex, end_us);
    }
    struct timespec at = time_at(end_us);
    return wait_until(thread, cond, mutex, mr_limit_at(CLOCK_MONOTONIC, &at), MR_CALLER);
}

/* Of older programs; the time is {seconds, microseconds}, NULL: never. */
MR_EXPORT int g_cond_timed_wait(void *cond, void *mutex, const long *end);
int g_cond_timed_wait(void *cond, void *mutex, const long *end)
{
    mr_thread *thread = MR_GLIB_ENTER(g_cond_timed_wait);
    if (thread == NULL) {
        return MR_REAL(g_cond_timed_wait)(cond, mutex, end);
    }
    struct timespec at = {end != NULL ? end[0] : 0, end != NULL ? end[1] * 1000 : 0};
    return wait_until(thread, cond, mutex, mr_limit_at(CLOCK_REALTIME, end != NULL ? &at : NULL),
                      MR_CALLER);
}

#define DEFINE_SIGNAL(name, all)                                                                   \
    MR_EXPORT void name(void *cond);                                                               \
    void name(void *cond)                                                                          \
    {                                                                                              \
        mr_thread *thread = MR_GLIB_ENTER(name);                                                   \
        if (thread == NULL) {                                                                      \
            MR_REAL(name)(cond);                                                                   \
            return;                                                                                \
        }                                                                                          \
        mr_cond_signal(thread, cond, all, MR_CALLER);                                              \
        mr_leave(thread);                                                                          \
    }
DEFINE_SIGNAL(g_cond_signal, false)
DEFINE_SIGNAL(g_cond_broadcast, true)
#undef DEFINE_SIGNAL

/* A bit of a word of the program, which is a lock of its own. Bits of one word have different keys to wait for, as long as it has no
 * more than 64 bits; the key of one word may be another word's, and who waits there looks again. */
static const void *key_of(const volatile void *word, int bit)
{
    return (const char *)word + bit;
}

static void log_bit(mr_log_kind kind, const volatile void *word, int bit, unsigned count,
                    uintptr_t code)
{
    mr_write_object(kind, MR_LOG_ROLE_OWN, (const void *)word, code, count,
                    (uint64_t)(unsigned)bit + 1);
}

typedef int (*try_bit)(volatile void *word, int bit);

static void lock_bit(mr_thread *thread, try_bit try_now, volatile void *word, int bit,
                     uintptr_t code)
{
    mr_yield(thread);
    while (!try_now(word, bit)) {
        log_bit(MR_LOG_BLOCKED, word, bit, mr_explore_wait(MR_NEVER, false), code);
        if (mr_block(thread, key_of(word, bit), MR_NEVER, false) == MR_INTERRUPTED) {
            mr_attend(thread);
        }
    }
    log_bit(MR_LOG_ACQUIRE, word, bit, 0, code);
    mr_leave(thread);
}

#define DEFINE_BIT_LOCK(name, try_name, unlock_name)                                               \
    MR_EXPORT int try_name(volatile void *word, int bit);                                          \
    int try_name(volatile void *word, int bit)                                                     \
    {                                                                                              \
        mr_thread *thread = MR_GLIB_ENTER(try_name);                                               \
        if (thread == NULL) {                                                                      \
            return MR_REAL(try_name)(word, bit);                                                   \
        }                                                                                          \
        mr_yield(thread);                                                                          \
        int taken = (!mr_steers() || mr_steer_expects(thread, MR_LOG_ACQUIRE) != 0) &&             \
                    MR_REAL(try_name)(word, bit);                                                  \
        if (taken) {                                                                               \
            log_bit(MR_LOG_ACQUIRE, word, bit, MR_LOG_TRIED, MR_CALLER);                           \
        } else {                                                                                   \
            mr_explore_failed_of(MR_LOG_ROLE_OWN, (uint64_t)(unsigned)bit + 1, word, MR_CALLER,    \
                                 false);                                                           \
        }                                                                                          \
        mr_leave(thread);                                                                          \
        return taken;                                                                              \
    }                                                                                              \
    MR_EXPORT void name(volatile void *word, int bit);                                             \
    void name(volatile void *word, int bit)                                                        \
    {                                                                                              \
        mr_thread *thread = MR_GLIB_ENTER(name);                                                   \
        if (thread == NULL) {                                                                      \
            MR_REAL(name)(word, bit);                                                              \
        } else {                                                                                   \
            lock_bit(thread, MR_REAL(try_name), word, bit, MR_CALLER);                             \
        }                                                                                          \
    }                                                                                              \
    MR_EXPORT void unlock_name(volatile void *word, int bit);                                      \
    void unlock_name(volatile void *word, int bit)                                                 \
    {                                                                                              \
        mr_thread *thread = MR_GLIB_ENTER(unlock_name);                                            \
        if (thread != NULL) {                                                                      \
            mr_yield(thread);                                                                      \
            log_bit(MR_LOG_RELEASE, word, bit, 0, MR_CALLER);                                      \
        }                                                                                          \
        MR_REAL(unlock_name)(word, bit);                                                           \
        if (thread != NULL) {                                                                      \
            mr_wake_key(key_of(word, bit));                                                        \
            mr_leave(thread);                                                                      \
        }                                                                                          \
    }
DEFINE_BIT_LOCK(g_bit_lock, g_bit_trylock, g_bit_unlock)
DEFINE_BIT_LOCK(g_pointer_bit_lock, g_pointer_bit_trylock, g_pointer_bit_unlock)
#undef DEFINE_BIT_LOCK
