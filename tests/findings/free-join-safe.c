/* Main joins the worker before it frees. */
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
    int status = pthread_join(worker, NULL);
    free(block);
    return status;
}
