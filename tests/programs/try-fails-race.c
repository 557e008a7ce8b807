/* A race: who fails to get a unit writes, in a section of `lock`; the other thread writes before its section. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t units;
static int x;

static void *try_all(void *unused)
{
    pthread_mutex_lock(&lock);
    if (sem_trywait(&units) != 0)
        x = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *give_back(void *unused)
{
    x = 2;
    usleep(1000);
    pthread_mutex_lock(&lock);
    sem_post(&units);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    sem_init(&units, 0, 0);
    pthread_create(&first, NULL, try_all, NULL);
    pthread_create(&second, NULL, give_back, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
