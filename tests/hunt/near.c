/* A race that shows only while one thread stands inside its section: the other one then does not get the lock, and goes on without it.
 * In a run in which it gets the lock, it has seen that the first thread is done, so no reordering of that run has the race. */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared, done;
static atomic_int steps;

static void *set(void *unused)
{
    pthread_mutex_lock(&lock);
    shared = 1;
    done = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *add(void *unused)
{
    int is_done = 1;
    for (int i = 0; i < 100; i++)
        atomic_fetch_add(&steps, 1);
    if (pthread_mutex_trylock(&lock) == 0) {
        is_done = done;
        pthread_mutex_unlock(&lock);
    }
    if (is_done)
        shared += 2;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, set, NULL);
    pthread_create(&threads[1], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
