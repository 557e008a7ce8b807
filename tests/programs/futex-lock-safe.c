/* No race: locks whose word the kernel changes, taken and given back by an exchange of the word where that will do, else by a call. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t word, turn;
int x,
    y; /* not static: compilers take it that a function of the C library changes nothing of that */

static long call(uint32_t *at, int what, uint32_t value, const struct timespec *limit,
                 uint32_t *other)
{
    return syscall(SYS_futex, at, what, value, limit, other, 0);
}

static void lock(uint32_t self)
{
    uint32_t nobody = 0;
    if (!__atomic_compare_exchange_n(&word, &nobody, self, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        while (call(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL) != 0) {
        }
    }
}

static void unlock(uint32_t self)
{
    if (!__atomic_compare_exchange_n(&word, &self, 0, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        call(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL);
    }
}

/* The calls alone: tried, with a limit, and of a futex that other processes may have. */
static void lock_by_call(int round)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 100;
    while (call(&word, round % 2 == 0 ? FUTEX_TRYLOCK_PI : FUTEX_LOCK_PI, 0, &limit, NULL) != 0) {
        sched_yield();
    }
}

static void *work(void *unused)
{
    uint32_t self = (uint32_t)syscall(SYS_gettid);
    for (int i = 0; i < 4; i++) {
        lock(self);
        x++;
        sched_yield();
        unlock(self);
        lock_by_call(i);
        x++;
        if (call(&word, FUTEX_LOCK_PI, 0, NULL, NULL) == 0 || errno != EDEADLK) {
            x = -100;
        }
        call(&word, FUTEX_UNLOCK_PI, 0, NULL, NULL);
    }
    return unused;
}

/* Woken, it has the lock. */
static void *wait_for_turn(void *unused)
{
    uint32_t self = (uint32_t)syscall(SYS_gettid);
    while (__atomic_load_n(&turn, __ATOMIC_RELAXED) == 0) {
        if (call(&turn, FUTEX_WAIT_REQUEUE_PI_PRIVATE, 0, NULL, &word) == 0) {
            y++;
            unlock(self);
            return unused;
        }
    }
    lock(self);
    y++;
    unlock(self);
    return unused;
}

int main(void)
{
    pthread_t first, second, third;
    uint32_t self = (uint32_t)syscall(SYS_gettid);
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_create(&third, NULL, wait_for_turn, NULL);
    lock(self);
    y = 1;
    sched_yield();
    __atomic_store_n(&turn, 1, __ATOMIC_RELAXED);
    syscall(SYS_futex, &turn, FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, NULL, &word, 1);
    y++;
    unlock(self);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_join(third, NULL);
    return x != 16 || y != 3;
}
