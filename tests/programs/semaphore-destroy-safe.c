/* No race: who has waited destroys the semaphore, while the other thread still leaves its post. */
#include <pthread.h>
#include <semaphore.h>

static void *work(void *argument)
{
    sem_post(argument);
    return NULL;
}

int main(void)
{
    pthread_t others[2];
    for (int i = 0; i < 2; i++) {
        sem_t units;
        sem_init(&units, 0, 0);
        pthread_create(&others[i], NULL, work, &units);
        sem_wait(&units);
        sem_destroy(&units);
    }
    pthread_join(others[0], NULL);
    pthread_join(others[1], NULL);
    return 0;
}
