/* Two readers of one lock do not wait for each other. */
#include <pthread.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t log = PTHREAD_MUTEX_INITIALIZER;
static int lines;

static void *work(void *unused)
{
    pthread_mutex_lock(&log);
    pthread_rwlock_rdlock(&table);
    lines++;
    pthread_rwlock_unlock(&table);
    pthread_mutex_unlock(&log);
    return unused;
}

int main(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    pthread_rwlock_rdlock(&table);
    pthread_mutex_lock(&log);
    lines++;
    pthread_mutex_unlock(&log);
    pthread_rwlock_unlock(&table);
    return pthread_join(worker, NULL);
}
