/* Race on counter: as queue-lock-safe.c, but the second thread adds once without the lock. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    struct node *_Atomic next;
    atomic_int waits;
};
static struct node *_Atomic last;
static int counter;

static void add(void)
{
    struct node own, *before, *expected = &own;
    atomic_init(&own.next, NULL);
    atomic_init(&own.waits, 1);
    before = atomic_exchange(&last, &own);
    if (before != NULL) {
        atomic_store(&before->next, &own);
        while (atomic_load(&own.waits))
            sched_yield();
    }
    counter++;
    if (atomic_load(&own.next) == NULL) {
        if (atomic_compare_exchange_strong(&last, &expected, NULL))
            return;
        while (atomic_load(&own.next) == NULL)
            sched_yield();
    }
    atomic_store(&atomic_load(&own.next)->waits, 0);
}

static void *work(void *also)
{
    for (int i = 0; i < 20; i++)
        add();
    if (also != NULL)
        counter++;
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, &last);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
