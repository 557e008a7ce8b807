/* No race: handed over with a lock; memory is given back and used again by both. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *next;

static void swap(int **block)
{
    int *mine = *block;
    pthread_mutex_lock(&lock);
    *block = next;
    next = mine;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    for (int i = 0; i < 4; i++) {
        int *block = malloc(sizeof *block * 16);
        if (block != NULL) {
            block[3] = i;
        }
        swap(&block);
        free(block);
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
