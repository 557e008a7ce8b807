/* Race on x: written after the lock made of compare-and-swap is given up. Predicted from every
 * order. */
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
    atomic_store_explicit(&lock, 0, memory_order_release);
    x++;
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
