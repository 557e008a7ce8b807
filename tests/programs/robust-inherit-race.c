/* Race on y: it is written after the mutex is given back. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t plain, inherits;
static int x, y;

static void *one(void *unused)
{
    pthread_mutex_lock(&plain);
    pthread_mutex_lock(&inherits);
    x = 1;
    y = 1;
    return unused; /* holds both */
}

static void take(pthread_mutex_t *lock)
{
    if (pthread_mutex_lock(lock) == EOWNERDEAD) {
        pthread_mutex_consistent(lock);
    }
}

static void *two(void *unused)
{
    take(&inherits);
    x = 2;
    pthread_mutex_unlock(&inherits);
    take(&plain);
    pthread_mutex_unlock(&plain);
    y = 2;
    return unused;
}

int main(void)
{
    pthread_mutexattr_t robust;
    pthread_t first, second;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&plain, &robust);
    pthread_mutexattr_setprotocol(&robust, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inherits, &robust);
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
