/* No race: each block is used by one thread, at an address that another thread has used. */
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument)
{
    int *own = argument != NULL ? argument : malloc(sizeof *own);
    if (own == NULL) {
        return NULL;
    }
    *own = 5;
    free(own);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    int *block = NULL;
    pthread_create(&first, NULL, work, block);
    pthread_create(&second, NULL, work, block);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    free(block);
    return 0;
}
