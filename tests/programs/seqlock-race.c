/* Race: what a seqlock protects must be atomic, because a reader may meet the next writer. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint version;
static int low, high;
static int sum;

static void *one(void *unused)
{
    for (int i = 1; i <= 3; i++) {
        unsigned now = atomic_load_explicit(&version, memory_order_relaxed);
        atomic_store_explicit(&version, now + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        low = i;
        high = i;
        atomic_store_explicit(&version, now + 2, memory_order_release);
    }
    return unused;
}

static void *two(void *unused)
{
    unsigned before, after;
    int a, b;
    do {
        before = atomic_load_explicit(&version, memory_order_acquire);
        a = low;
        b = high;
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&version, memory_order_relaxed);
    } while (before != after || before % 2 || !before);
    sum = a + b;
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
