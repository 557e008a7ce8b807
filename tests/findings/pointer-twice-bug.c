/* dangling: the reader reads the pointer twice at one place, and lets another thread free the block in between. The
 * first read can see nothing wrong. Also without --record-local. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

enum { YIELDS = 6 };

static int *shared, *block;
static sem_t is_there, may_free;

static int read_shared(void)
{
    return *shared;
}

static void *read_twice(void *unused)
{
    int sum = 0;
    sem_wait(&is_there);
    for (int i = 0; i < 2; i++) {
        sum += read_shared();
        if (i == 0) {
            sem_post(&may_free);
        }
    }
    return sum == 2 ? NULL : unused;
}

static void *free_later(void *unused)
{
    (void)unused;
    sem_wait(&may_free);
    for (int i = 0; i < YIELDS; i++) {
        sched_yield();
    }
    free(block);
    return NULL;
}

int main(void)
{
    pthread_t reader, freer;
    if (sem_init(&is_there, 0, 0) || sem_init(&may_free, 0, 0) ||
        pthread_create(&reader, NULL, read_twice, NULL) ||
        pthread_create(&freer, NULL, free_later, NULL)) {
        return 1;
    }
    block = malloc(sizeof *block);
    if (!block) {
        return 1;
    }
    *block = 1;
    shared = block;
    sem_post(&is_there);
    pthread_join(reader, NULL);
    pthread_join(freer, NULL);
    return 0;
}
