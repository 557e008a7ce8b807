/* The pointer is reset under the lock under which the worker looks at it. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *block;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    if (block) {
        *block += 1;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t worker;
    block = calloc(1, sizeof *block);
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    free(block);
    block = NULL;
    pthread_mutex_unlock(&lock);
    return pthread_join(worker, NULL);
}
