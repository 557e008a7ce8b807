/* No race: an update of another thread, even a relaxed one, continues the release sequence. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int data, seen;

static void *one(void *unused)
{
    data = 7;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}

static void *two(void *unused)
{
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        ;
    atomic_fetch_add_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

static void *three(void *unused)
{
    while (atomic_load_explicit(&ready, memory_order_acquire) != 2)
        ;
    seen = data;
    return unused;
}

int main(void)
{
    pthread_t first, second, third;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_create(&third, NULL, three, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_join(third, NULL);
    return 0;
}
