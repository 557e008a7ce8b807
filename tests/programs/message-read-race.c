/* Race on data by memory order: the read of the flag does not acquire. Predicted from every order. */
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
