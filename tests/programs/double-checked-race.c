/* Race on value by memory order: the flag is relaxed. Predicted from every order. */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int made;
static int value, sum;

static int get(void)
{
    if (!atomic_load_explicit(&made, memory_order_relaxed)) {
        pthread_mutex_lock(&mutex);
        if (!atomic_load_explicit(&made, memory_order_relaxed)) {
            value = 7;
            atomic_store_explicit(&made, 1, memory_order_relaxed);
        }
        pthread_mutex_unlock(&mutex);
    }
    return value;
}

static void *one(void *unused)
{
    get();
    return unused;
}

static void *two(void *unused)
{
    while (!atomic_load_explicit(&made, memory_order_relaxed))
        ;
    sum = get();
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
