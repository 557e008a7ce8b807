/* No error: more blocks are freed than the runtime keeps, and their memory is used again. */
#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS = 600 };

static void *work(void *argument)
{
    int *total = argument;
    for (int i = 0; i < BLOCKS; i++) {
        int *block = calloc(1, 48);
        if (block != NULL) {
            block[i % 12] = i;
            *total += block[i % 12];
        }
        free(block);
    }
    return NULL;
}

int main(void)
{
    pthread_t other;
    int one = 0, two = 0;
    pthread_create(&other, NULL, work, &one);
    work(&two);
    pthread_join(other, NULL);
    return one - two;
}
