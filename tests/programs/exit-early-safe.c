/* Threads that nobody joins, one of which never ends, do not keep the process from ending. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *add(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *wait_for_ever(void *unused)
{
    pthread_mutex_lock(&lock);
    shared++;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    for (;;)
        pthread_cond_wait(&never, &lock);
    return unused;
}

int main(void)
{
    pthread_t others[2];
    pthread_create(&others[0], NULL, add, NULL);
    pthread_create(&others[1], NULL, wait_for_ever, NULL);
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    return 0;
}
