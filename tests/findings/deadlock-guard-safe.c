/* Both threads take a guard lock first. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *unused)
{
    pthread_mutex_lock(&guard);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    total++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&guard);
    return unused;
}

int main(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&guard);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    total++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&guard);
    return pthread_join(worker, NULL);
}
