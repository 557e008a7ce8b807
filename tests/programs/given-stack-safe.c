/* No race: the program gives threads the memory of their stacks, one after the other, and uses it again when they have ended. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 18, ALIGNMENT = 4096 };

static char own[BYTES] __attribute__((aligned(ALIGNMENT)));

static void *work(void *unused)
{
    char local[64];
    memset(local, 1, sizeof local);
    return local[7] == 1 ? unused : NULL;
}

static void run_on(char *stack)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, BYTES);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, &attributes, work, NULL);
        pthread_join(thread, NULL);
    }
    stack[BYTES / 2] = 1;
    pthread_attr_destroy(&attributes);
}

int main(void)
{
    char *block = aligned_alloc(ALIGNMENT, BYTES);
    run_on(own);
    run_on(block);
    memset(own, 0, BYTES);
    free(block);
    return 0;
}
