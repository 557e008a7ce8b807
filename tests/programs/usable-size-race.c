/* Race on the block: a thread writes in the room that it has beyond what was asked for, as malloc_usable_size allows, and the block is
 * freed meanwhile. Predicted from every order. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

enum { BYTES = 5 };

static char *block;

static void *fill(void *unused)
{
    block[BYTES] = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    block = malloc(BYTES);
    if (malloc_usable_size(block) <= BYTES) {
        return 1;
    }
    pthread_create(&thread, NULL, fill, NULL);
    free(block);
    pthread_join(thread, NULL);
    return 0;
}
