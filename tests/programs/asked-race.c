/* A race: who learns that a semaphore has no unit writes, in a section of `lock`; the other thread writes before its section.
 * Predicted from every order. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t units;
static int of_units;

static void *ask(void *unused)
{
    int count;
    pthread_mutex_lock(&lock);
    sem_getvalue(&units, &count);
    if (count == 0)
        of_units = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *change(void *unused)
{
    of_units = 2;
    usleep(1000);
    pthread_mutex_lock(&lock);
    sem_post(&units);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    sem_init(&units, 0, 0);
    pthread_create(&one, NULL, ask, NULL);
    pthread_create(&two, NULL, change, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
