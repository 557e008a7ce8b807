/* Observed: a mutex and a semaphore are used after they were destroyed. Predicted from every order. */
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock;
static sem_t units;

int main(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_destroy(&lock);
    pthread_mutex_lock(&lock);
    sem_init(&units, 0, 1);
    sem_destroy(&units);
    sem_post(&units);
    return 0;
}
