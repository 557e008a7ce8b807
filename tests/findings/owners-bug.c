/* double-free: one owner replaces the block, the other frees what it finds, and nothing keeps them apart. */
#include <pthread.h>
#include <stdlib.h>

static void *slot;

static void *replace(void *unused)
{
    free(slot);
    slot = malloc(24);
    return unused;
}

int main(void)
{
    pthread_t other;
    slot = malloc(16);
    pthread_create(&other, NULL, replace, NULL);
    for (int i = 0; i < 5; i++) {
        pthread_testcancel();
    }
    free(slot);
    return pthread_join(other, NULL);
}
