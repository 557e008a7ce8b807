/*
 * Locks of OpenMP: critical, omp_set_lock and so on, and reductions. The state of a lock stays in the lock: 0, or the number of the
 * thread that has it and 1; behind it, of a nest lock, how often.
 */
#include "kmpc.h"

#include "gomp.h"
#include "tried_lock.h"
#include "writer.h"

enum { CRITICAL_BYTES = 32, LOCK_BYTES = 8 };

static uint32_t own_state(void)
{
    return (uint32_t)mr_kmpc_self(mr_self)->number + 1;
}

static int try_word(void *lock)
{
    uint32_t *word = lock;
    if (*word != 0) {
        return 0;
    }
    *word = own_state();
    return 1;
}

static int try_nested(void *lock)
{
    uint32_t *word = lock;
    if (word[0] != 0 && word[0] != own_state()) {
        return 0;
    }
    word[0] = own_state();
    return (int)++word[1];
}

static void give_word(void *lock)
{
    *(uint32_t *)lock = 0;
}

static void give_nested(void *lock)
{
    uint32_t *word = lock;
    if (word[1] > 0 && --word[1] == 0) {
        word[0] = 0;
    }
}

static mr_tried_lock way_of(unsigned bytes)
{
    return (mr_tried_lock){MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(bytes), false, NULL};
}

void mr_kmpc_lock(mr_thread *thread, void *word, unsigned bytes, uintptr_t code)
{
    mr_tried_lock way = way_of(bytes);
    mr_yield(thread);
    mr_tried_lock_take(thread, try_word, &way, word, MR_NEVER, code);
    mr_kmpc_self(thread)->locks_held++;
}

void mr_kmpc_unlock(mr_thread *thread, void *word, unsigned bytes, uintptr_t code)
{
    mr_tried_lock way = way_of(bytes);
    mr_yield(thread);
    mr_tried_lock_give(give_word, &way, word, code);
    mr_kmpc_self(thread)->locks_held--;
}

/* ---- critical ---- */

#define CRITICAL(name, parameters, arguments, does)                                                \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        mr_thread *thread;                                                                         \
        if (!mr_kmpc_is_ours()) {                                                                  \
            MR_REAL(name) arguments;                                                               \
        } else if ((thread = mr_enter()) != NULL) {                                                \
            does(thread, lock, CRITICAL_BYTES, MR_CALLER);                                         \
            mr_leave(thread);                                                                      \
        }                                                                                          \
    }
CRITICAL(__kmpc_critical, (void *place, int number, void *lock), (place, MR_THEIRS(number), lock),
         mr_kmpc_lock)
CRITICAL(__kmpc_critical_with_hint, (void *place, int number, void *lock, uint32_t hint),
         (place, MR_THEIRS(number), lock, hint), mr_kmpc_lock)
CRITICAL(__kmpc_end_critical, (void *place, int number, void *lock),
         (place, MR_THEIRS(number), lock), mr_kmpc_unlock)
CRITICAL(__kmpc_end_reduce_nowait, (void *place, int number, void *lock),
         (place, MR_THEIRS(number), lock), mr_kmpc_unlock)
#undef CRITICAL

/* Each thread adds its own under the lock. */
#define REDUCE(name)                                                                               \
    MR_EXPORT int name(void *place, int number, int count, size_t bytes, void *data,               \
                       void (*add)(void *to, void *from), void *lock);                             \
    int name(void *place, int number, int count, size_t bytes, void *data,                         \
             void (*add)(void *to, void *from), void *lock)                                        \
    {                                                                                              \
        mr_thread *thread;                                                                         \
        if (!mr_kmpc_is_ours()) {                                                                  \
            return MR_REAL(name)(place, MR_THEIRS(number), count, bytes, data, add, lock);         \
        }                                                                                          \
        if ((thread = mr_enter()) != NULL) {                                                       \
            mr_kmpc_lock(thread, lock, CRITICAL_BYTES, MR_CALLER);                                 \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return 1;                                                                                  \
    }
REDUCE(__kmpc_reduce)
REDUCE(__kmpc_reduce_nowait)
#undef REDUCE

MR_EXPORT void __kmpc_end_reduce(void *place, int number, void *lock);
void __kmpc_end_reduce(void *place, int number, void *lock)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_end_reduce)(place, MR_THEIRS(number), lock);
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_unlock(thread, lock, CRITICAL_BYTES, MR_CALLER);
        mr_kmpc_barrier(thread, mr_kmpc_self(thread), MR_CALLER);
        mr_leave(thread);
    }
}

/* ---- omp_lock_t and omp_nest_lock_t ---- */

static void begin_life(uint32_t *lock, uintptr_t code)
{
    lock[0] = lock[1] = 0;
    mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_MUTEX, lock, code, MR_LOG_RETIRED_INITIALISED,
                    MR_LOG_SIZED(LOCK_BYTES));
}

static void end_life(uint32_t *lock, uintptr_t code)
{
    mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_MUTEX, lock, code, MR_LOG_RETIRED_DESTROYED,
                    MR_LOG_SIZED(LOCK_BYTES));
}

static void lock_nested(mr_thread *thread, void *lock, uintptr_t code)
{
    mr_tried_lock way = way_of(LOCK_BYTES);
    mr_yield(thread);
    mr_tried_lock_take(thread, try_nested, &way, lock, MR_NEVER, code);
    mr_kmpc_self(thread)->locks_held++;
}

static void unlock_nested(mr_thread *thread, void *lock, uintptr_t code)
{
    mr_tried_lock way = way_of(LOCK_BYTES);
    mr_yield(thread);
    mr_tried_lock_give(give_nested, &way, lock, code);
    mr_kmpc_self(thread)->locks_held--;
}

enum { GCC_LOCK = 4, GCC_NEST_LOCK = 16 };

#define ON_LOCK(name, parameters, arguments, of_gcc, statement)                                    \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread != NULL) {                                                                      \
            of_gcc;                                                                                \
            mr_leave(thread);                                                                      \
        } else if (!mr_kmpc_answers()) {                                                           \
            MR_REAL(name) arguments;                                                               \
        } else if ((thread = mr_enter()) != NULL) {                                                \
            statement;                                                                             \
            mr_leave(thread);                                                                      \
        }                                                                                          \
    }
ON_LOCK(omp_init_lock, (void *lock), (lock),
        mr_gomp_make_lock(lock, GCC_LOCK, MR_LOG_RETIRED_INITIALISED, MR_CALLER),
        begin_life(lock, MR_CALLER))
ON_LOCK(omp_init_nest_lock, (void *lock), (lock),
        mr_gomp_make_lock(lock, GCC_NEST_LOCK, MR_LOG_RETIRED_INITIALISED, MR_CALLER),
        begin_life(lock, MR_CALLER))
ON_LOCK(omp_init_lock_with_hint, (void *lock, int hint), (lock, hint),
        mr_gomp_make_lock(lock, GCC_LOCK, MR_LOG_RETIRED_INITIALISED, MR_CALLER),
        begin_life(lock, MR_CALLER))
ON_LOCK(omp_init_nest_lock_with_hint, (void *lock, int hint), (lock, hint),
        mr_gomp_make_lock(lock, GCC_NEST_LOCK, MR_LOG_RETIRED_INITIALISED, MR_CALLER),
        begin_life(lock, MR_CALLER))
ON_LOCK(omp_destroy_lock, (void *lock), (lock),
        mr_gomp_make_lock(lock, GCC_LOCK, MR_LOG_RETIRED_DESTROYED, MR_CALLER),
        end_life(lock, MR_CALLER))
ON_LOCK(omp_destroy_nest_lock, (void *lock), (lock),
        mr_gomp_make_lock(lock, GCC_NEST_LOCK, MR_LOG_RETIRED_DESTROYED, MR_CALLER),
        end_life(lock, MR_CALLER))
ON_LOCK(omp_set_lock, (void *lock), (lock), mr_gomp_lock(thread, lock, MR_CALLER),
        mr_kmpc_lock(thread, lock, LOCK_BYTES, MR_CALLER))
ON_LOCK(omp_unset_lock, (void *lock), (lock), mr_gomp_unlock(thread, lock, MR_CALLER),
        mr_kmpc_unlock(thread, lock, LOCK_BYTES, MR_CALLER))
ON_LOCK(omp_set_nest_lock, (void *lock), (lock), mr_gomp_lock_nested(thread, lock, MR_CALLER),
        lock_nested(thread, lock, MR_CALLER))
ON_LOCK(omp_unset_nest_lock, (void *lock), (lock), mr_gomp_unlock_nested(thread, lock, MR_CALLER),
        unlock_nested(thread, lock, MR_CALLER))
#undef ON_LOCK

MR_EXPORT int omp_test_lock(void *lock);
int omp_test_lock(void *lock)
{
    mr_thread *thread = MR_GOMP_ENTER();
    mr_tried_lock way = way_of(LOCK_BYTES);
    if (thread != NULL) {
        int levels = mr_gomp_try_lock(thread, lock, MR_CALLER);
        mr_leave(thread);
        return levels;
    }
    if (!mr_kmpc_answers()) {
        return MR_REAL(omp_test_lock)(lock);
    }
    thread = mr_enter();
    bool taken = thread != NULL && mr_tried_lock_try(thread, try_word, &way, lock, MR_CALLER);
    if (thread != NULL) {
        mr_kmpc_self(thread)->locks_held += taken;
        mr_leave(thread);
    }
    return taken;
}

MR_EXPORT int omp_test_nest_lock(void *lock);
int omp_test_nest_lock(void *lock)
{
    mr_thread *thread = MR_GOMP_ENTER();
    mr_tried_lock way = way_of(LOCK_BYTES);
    if (thread != NULL) {
        int levels = mr_gomp_try_nested(thread, lock, MR_CALLER);
        mr_leave(thread);
        return levels;
    }
    if (!mr_kmpc_answers()) {
        return MR_REAL(omp_test_nest_lock)(lock);
    }
    thread = mr_enter();
    bool taken = thread != NULL && mr_tried_lock_try(thread, try_nested, &way, lock, MR_CALLER);
    int count = taken ? (int)((uint32_t *)lock)[1] : 0;
    if (thread != NULL) {
        mr_kmpc_self(thread)->locks_held += taken;
        mr_leave(thread);
    }
    return count;
}
