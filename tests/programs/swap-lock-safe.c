/* No race: written before. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int lock;
static int x;

static void *work(void *unused)
{
    int expected = 0;
    while (!atomic_compare_exchange_strong(&lock, &expected, 1)) {
        expected = 0;
        sched_yield();
    }
    x++;
    atomic_store_explicit(&lock, 0, memory_order_release);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
