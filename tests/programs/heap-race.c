/* Race on the block: freed and used by two threads. Predicted from the orders in which the user
 * comes first (the other would be a use after free; here the memory stays readable). */
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument)
{
    int *own = argument != NULL ? argument : malloc(sizeof *own);
    if (own == NULL) {
        return NULL;
    }
    *own = 5;
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    int *block = malloc(sizeof *block);
    pthread_create(&first, NULL, work, block);
    pthread_create(&second, NULL, work, block);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    free(block);
    return 0;
}
