/* No race, and no misuse: a mutex with a priority ceiling cannot be locked by a thread whose priority does not fit. */
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t lock;
static int x;

static void *work(void *unused)
{
    for (int i = 0; i < 3; i++) {
        if (pthread_mutex_lock(&lock) == 0) {
            x++;
            pthread_mutex_unlock(&lock);
        }
    }
    return unused;
}

int main(void)
{
    pthread_mutexattr_t ceiling;
    pthread_t first, second;
    pthread_mutexattr_init(&ceiling);
    pthread_mutexattr_setprotocol(&ceiling, PTHREAD_PRIO_PROTECT);
    pthread_mutexattr_setprioceiling(&ceiling, 1);
    pthread_mutex_init(&lock, &ceiling);
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
