/* Race on a block: freed by main while the other thread may use it. Predicted from every order; when
 * the use comes after the free in the execution, it is also observed. */
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument)
{
    int *block = argument;
    block[3] = 7;
    return NULL;
}

int main(void)
{
    pthread_t other;
    int *block = malloc(16 * sizeof *block);
    if (block == NULL) {
        return 1;
    }
    pthread_create(&other, NULL, work, block);
    free(block);
    pthread_join(other, NULL);
    return 0;
}
