/* Spin locks as PostgreSQL and kernels have them: taken by an exchange in inline assembly, released by a
 * volatile write behind a barrier for the compiler. A thread looks by a volatile read whether the lock is free. */
#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 3 };

static volatile unsigned char lock_word;
static int counter;

static int is_taken(void)
{
    unsigned char before = 1;
    __asm__ volatile("lock; xchgb %0, %1" : "+q"(before), "+m"(lock_word) : : "memory", "cc");
    return before;
}

static void lock(void)
{
    while (lock_word || is_taken()) {
        sched_yield();
    }
}

static void unlock(void)
{
    __asm__ volatile("" : : : "memory");
    lock_word = 0;
}

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        lock();
        counter++;
        unlock();
    }
    return unused;
}

static int run(void (*look)(void))
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    look();
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return counter == 2 * ROUNDS ? 0 : 1;
}
