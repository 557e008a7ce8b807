/* No race: a robust mutex that a thread holds at its end is the next one's. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock;
static int x;

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    x = 1;
    return unused; /* holds it */
}

static void *two(void *unused)
{
    int status = pthread_mutex_lock(&lock);
    if (status == EOWNERDEAD) {
        pthread_mutex_consistent(&lock);
    }
    x = 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_mutexattr_t robust;
    pthread_t first, second;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &robust);
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
