/* The owners take turns under a lock, and the last one is known by the join. */
#include <pthread.h>
#include <stdlib.h>

static void *slot;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *replace(void *unused)
{
    pthread_mutex_lock(&lock);
    free(slot);
    slot = malloc(24);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t other;
    slot = malloc(16);
    pthread_create(&other, NULL, replace, NULL);
    pthread_mutex_lock(&lock);
    free(slot);
    slot = malloc(32);
    pthread_mutex_unlock(&lock);
    int status = pthread_join(other, NULL);
    free(slot);
    return status;
}
