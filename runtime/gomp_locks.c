/* Critical sections and locks of OpenMP (gomp.h). The state of a lock is in the lock, as libgomp has it. */
#include "gomp.h"

#include "tried_lock.h"
#include "writer.h"

#include <string.h>

/* 0: free, 1: taken. */
static int try_word(void *lock)
{
    int free_word = 0;
    return __atomic_compare_exchange_n((int *)lock, &free_word, 1, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

static void give_word(void *lock)
{
    __atomic_store_n((int *)lock, 0, __ATOMIC_SEQ_CST);
}

static const mr_tried_lock section_way = {MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(8), false, NULL};
static const mr_tried_lock lock_way = {MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(4), false, NULL};
static const mr_tried_lock nest_way = {MR_LOG_ROLE_MUTEX, MR_LOG_SIZED(16), false, NULL};

static uint64_t openmp_critical, openmp_atomic; /* locks without a name */

static void take(mr_thread *thread, const mr_tried_lock *way, void *lock, uintptr_t code)
{
    mr_yield(thread);
    mr_tried_lock_take(thread, try_word, way, lock, MR_NEVER, code);
    mr_leave(thread);
}

static void give(mr_thread *thread, const mr_tried_lock *way, void *lock, uintptr_t code)
{
    mr_yield(thread);
    mr_tried_lock_give(give_word, way, lock, code);
    mr_leave(thread);
}

#define SECTION(begin, end, parameters, arguments, lock)                                           \
    MR_EXPORT void begin parameters;                                                               \
    void begin parameters                                                                          \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            MR_REAL(begin) arguments;                                                              \
        } else {                                                                                   \
            take(thread, &section_way, lock, MR_CALLER);                                           \
        }                                                                                          \
    }                                                                                              \
    MR_EXPORT void end parameters;                                                                 \
    void end parameters                                                                            \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            MR_REAL(end) arguments;                                                                \
        } else {                                                                                   \
            give(thread, &section_way, lock, MR_CALLER);                                           \
        }                                                                                          \
    }
SECTION(GOMP_critical_start, GOMP_critical_end, (void), (), &openmp_critical)
SECTION(GOMP_atomic_start, GOMP_atomic_end, (void), (), &openmp_atomic)
SECTION(GOMP_critical_name_start, GOMP_critical_name_end, (void **name), (name), name)
#undef SECTION

/* ---- locks of the program ---- */

/* omp_nest_lock_t */
typedef struct nest_lock {
    int word, count;
    const void *owner; /* a task */
} nest_lock;

void mr_gomp_make_lock(void *lock, size_t bytes, mr_log_retired how, uintptr_t code)
{
    mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_MUTEX, lock, code, how, MR_LOG_SIZED(bytes));
    MR_REAL(memset)(lock, 0, bytes);
}

void mr_gomp_lock(mr_thread *thread, void *lock, uintptr_t code)
{
    mr_yield(thread);
    mr_tried_lock_take(thread, try_word, &lock_way, lock, MR_NEVER, code);
}

void mr_gomp_unlock(mr_thread *thread, void *lock, uintptr_t code)
{
    mr_yield(thread);
    mr_tried_lock_give(give_word, &lock_way, lock, code);
}

int mr_gomp_try_lock(mr_thread *thread, void *lock, uintptr_t code)
{
    return mr_tried_lock_try(thread, try_word, &lock_way, lock, code);
}

/* One more level of a lock that the task has. */
static bool is_mine(nest_lock *lock)
{
    bool is = lock->word != 0 && lock->owner == mr_gomp_now()->task;
    lock->count += is;
    return is;
}

void mr_gomp_lock_nested(mr_thread *thread, void *lock, uintptr_t code)
{
    nest_lock *self = lock;
    if (!is_mine(self)) {
        mr_yield(thread);
        mr_tried_lock_take(thread, try_word, &nest_way, lock, MR_NEVER, code);
        self->owner = mr_gomp_now()->task;
        self->count = 1;
    }
}

void mr_gomp_unlock_nested(mr_thread *thread, void *lock, uintptr_t code)
{
    nest_lock *self = lock;
    if (--self->count == 0) {
        self->owner = NULL;
        mr_yield(thread);
        mr_tried_lock_give(give_word, &nest_way, lock, code);
    }
}

int mr_gomp_try_nested(mr_thread *thread, void *lock, uintptr_t code)
{
    nest_lock *self = lock;
    bool has = is_mine(self);
    if (!has && mr_tried_lock_try(thread, try_word, &nest_way, lock, code)) {
        self->owner = mr_gomp_now()->task;
        self->count = 1;
        has = true;
    }
    return has ? self->count : 0;
}
