/* use-after-free: main frees what the worker still uses, and joins it after that. */
#include <pthread.h>
#include <stdlib.h>

static void *work(void *block)
{
    *(int *)block += 1;
    return NULL;
}

int main(void)
{
    int *block = calloc(1, sizeof *block);
    pthread_t worker;
    pthread_create(&worker, NULL, work, block);
    free(block);
    return pthread_join(worker, NULL);
}
