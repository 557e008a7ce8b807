/* Race on x: a thread takes the robust mutex of one that has ended, and unlocks it too early. Where it is the first to take it, the
 * race is predicted; where it finds that the owner has died, what it does next needs that. */
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
    pthread_mutex_unlock(&lock);
    x = 2;
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
