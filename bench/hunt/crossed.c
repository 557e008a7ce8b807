/* Two locks in another order, when the input says so: a deadlock. */
#include "common.h"

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    pthread_mutex_t *first = &lock, *next = &other;
    if (memcmp(input, "swap", 4) == 0)
        first = &other, next = &lock;
    pthread_mutex_lock(first);
    pthread_mutex_lock(next);
    pthread_mutex_unlock(next);
    pthread_mutex_unlock(first);
    return unused;
}

int main(void)
{
    read_input(stdin);
    start(work);
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    pthread_mutex_unlock(&lock);
    finish();
    return 0;
}
