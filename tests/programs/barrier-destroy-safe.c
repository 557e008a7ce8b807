/* No race: destroyed when both have left the barrier, and made anew. */
#include <pthread.h>

static pthread_barrier_t gate;
static int table[2];

static void *work(void *unused)
{
    table[0] = 1;
    pthread_barrier_wait(&gate);
    return unused;
}

int main(void)
{
    for (int round = 0; round < 2; round++) {
        pthread_t other;
        pthread_barrier_init(&gate, NULL, 2);
        pthread_create(&other, NULL, work, NULL);
        pthread_barrier_wait(&gate);
        table[1] = table[0];
        pthread_join(other, NULL);
        pthread_barrier_destroy(&gate);
    }
    return table[1] - 1;
}
