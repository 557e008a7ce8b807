/* No race: each block is freed by its last user, and the same memory is used again and again by
 * both threads, in blocks of the same size and by realloc. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { ROUNDS = 3 };

static int *_Atomic mailbox;

static void *produce(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        int *block = malloc(sizeof *block);
        if (block == NULL) {
            return unused;
        }
        *block = i;
        int *more = realloc(block, 40 * sizeof *block);
        while (mailbox != NULL) {
            sched_yield();
        }
        mailbox = more;
    }
    return unused;
}

int main(void)
{
    pthread_t other;
    int sum = 0;
    pthread_create(&other, NULL, produce, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        int *block;
        while ((block = mailbox) == NULL) {
            sched_yield();
        }
        mailbox = NULL;
        sum += *block;
        block[39] = sum;
        free(block);
    }
    pthread_join(other, NULL);
    return sum != ROUNDS * (ROUNDS - 1) / 2;
}
