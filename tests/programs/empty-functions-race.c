/* Race on shared: before it, each thread goes through functions that leave nothing in the log but an entry, which is taken back.
 * Predicted from every order. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static int shared;

static void give_way(void)
{
    sched_yield();
}

static void *work(void *which)
{
    int own[16] = {0};
    for (int i = 0; i < 2000; i++) {
        int *volatile at = &own[i % 16];
        give_way();
        *at += i;
    }
    shared += which != NULL;
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, &shared);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
