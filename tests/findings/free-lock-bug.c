/* use-after-free: the worker counts in the block under lock a, main frees it under lock b. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *block)
{
    pthread_mutex_lock(&a);
    *(int *)block += 1;
    pthread_mutex_unlock(&a);
    return NULL;
}

int main(void)
{
    int *block = calloc(1, sizeof *block);
    pthread_t worker;
    pthread_create(&worker, NULL, work, block);
    pthread_mutex_lock(&b);
    free(block);
    pthread_mutex_unlock(&b);
    return pthread_join(worker, NULL);
}
