/* No race: the exchange acquires when it fails. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int owner;
static int data, seen;

static void *one(void *unused)
{
    data = 7;
    atomic_store_explicit(&owner, 1, memory_order_release);
    return unused;
}

/* The exchange fails: the owner is 1 then. */
static void *two(void *unused)
{
    int expected = 2;
    while (!atomic_load_explicit(&owner, memory_order_relaxed))
        ;
    if (!atomic_compare_exchange_strong_explicit(&owner, &expected, 3, memory_order_acq_rel,
                                                 memory_order_acquire))
        seen = data;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
