/* A spin lock and what its annotations look like: the twins annotated-lock-*. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

void __tsan_mutex_create(void *lock, unsigned flags);
void __tsan_mutex_destroy(void *lock, unsigned flags);
void __tsan_mutex_pre_lock(void *lock, unsigned flags);
void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
void __tsan_mutex_post_unlock(void *lock, unsigned flags);

enum { TRY = 1 << 4, TRY_FAILED = 1 << 5 };

typedef struct lock {
    int taken;
    int uses; /* changed inside of the lock's own work, which nobody records */
} lock;

static inline void take(lock *self)
{
    __tsan_mutex_pre_lock(self, 0);
    while (__atomic_exchange_n(&self->taken, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    self->uses++;
    __tsan_mutex_post_lock(self, 0, 0);
}

static inline int try_take(lock *self)
{
    __tsan_mutex_pre_lock(self, TRY);
    int taken = !__atomic_exchange_n(&self->taken, 1, __ATOMIC_ACQUIRE);
    __tsan_mutex_post_lock(self, taken ? TRY : TRY | TRY_FAILED, 0);
    return taken;
}

static inline void give_back(lock *self)
{
    __tsan_mutex_pre_unlock(self, 0);
    __atomic_store_n(&self->taken, 0, __ATOMIC_RELEASE);
    __tsan_mutex_post_unlock(self, 0);
}
