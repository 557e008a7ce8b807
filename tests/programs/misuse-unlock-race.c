/* Observed: a mutex is unlocked by a thread that does not hold it. Predicted from every order. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_mutex_lock(&lock);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(other, NULL);
    return 0;
}
