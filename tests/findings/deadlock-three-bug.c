/* deadlock: three philosophers, each takes the fork on its left first. */
#include <pthread.h>

enum { SEATS = 3 };

static pthread_mutex_t forks[SEATS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                       PTHREAD_MUTEX_INITIALIZER};
static int meals[SEATS];

static void *dine(void *argument)
{
    int seat = (int)((int *)argument - meals);
    pthread_mutex_t *first = &forks[seat], *second = &forks[(seat + 1) % SEATS];
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    meals[seat]++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    return NULL;
}

int main(void)
{
    pthread_t threads[SEATS];
    for (int i = 0; i < SEATS; i++) {
        pthread_create(&threads[i], NULL, dine, &meals[i]);
    }
    for (int i = 0; i < SEATS; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
