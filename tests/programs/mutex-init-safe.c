/* No race: initialised while other threads run, and handed over by an atomic pointer. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static pthread_mutex_t *_Atomic shared;
static int total;

static void add(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    total++;
    pthread_mutex_unlock(lock);
}

static void *initialise(void *unused)
{
    pthread_mutex_t *own = malloc(sizeof *own);
    pthread_mutex_init(own, NULL);
    shared = own;
    add(own);
    return unused;
}

static void *use(void *unused)
{
    while (shared == NULL) {
        sched_yield();
    }
    add(shared);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, initialise, NULL);
    pthread_create(&second, NULL, use, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_mutex_destroy(shared);
    free(shared);
    return total - 2;
}
