/* Nothing is wrong, though a thread waits by spinning. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int ready;
static int payload;

static void *give(void *unused)
{
    payload = 7;
    atomic_store(&ready, 1);
    return unused;
}

static void *take(void *unused)
{
    while (!atomic_load(&ready))
        continue;
    if (payload != 7)
        abort();
    return unused;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&two, NULL, take, NULL);
    pthread_create(&one, NULL, give, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
