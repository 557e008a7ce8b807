/* Race on units: destroyed after the post, while the other thread may still wait. Predicted from
 * every order. */
#include <pthread.h>
#include <semaphore.h>

static sem_t units;

static void *work(void *unused)
{
    sem_wait(&units);
    return unused;
}

int main(void)
{
    pthread_t other;
    sem_init(&units, 0, 1);
    pthread_create(&other, NULL, work, NULL);
    sem_destroy(&units);
    pthread_join(other, NULL);
    return 0;
}
