/* A try that gets a unit has one more record than one that does not. Whether it does, and whose exchange
 * comes first, are told apart: 2 × 2.
 * behaviours: 4 */
#include <pthread.h>
#include <semaphore.h>

static sem_t units;
static int value;

static void *giver(void *argument)
{
    sem_post(&units);
    __atomic_exchange_n(&value, 2, __ATOMIC_SEQ_CST);
    return argument;
}

static void *taker(void *argument)
{
    sem_trywait(&units);
    __atomic_exchange_n(&value, 1, __ATOMIC_SEQ_CST);
    return argument;
}

int main(void)
{
    pthread_t one, two;
    sem_init(&units, 0, 0);
    pthread_create(&one, NULL, giver, NULL);
    pthread_create(&two, NULL, taker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
