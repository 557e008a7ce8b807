/* Race on data by memory order: who waits by an exchange that fails, with a call between two of them, is relaxed. A replay does all
 * that failed before the store. Predicted from every order. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int owner;
static int data;

static void *one(void *unused)
{
    for (int i = 0; i < 5; i++) {
        sched_yield();
    }
    data = 7;
    atomic_store_explicit(&owner, 1, memory_order_release);
    return unused;
}

static void *two(void *unused)
{
    for (;;) {
        int expected = 1;
        if (atomic_compare_exchange_strong_explicit(&owner, &expected, 2, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            break;
        }
        sched_yield();
    }
    data++;
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
