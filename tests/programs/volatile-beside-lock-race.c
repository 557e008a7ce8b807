/* The main thread looks at a volatile word that stands beside the lock and that no assembly accesses; another one writes
 * it. Predicted from every order */
#include "volatile-lock.h"

static struct {
    volatile int lock;
    volatile int done;
} both;

static void *finish(void *unused)
{
    int before = 1;
    __asm__ volatile("lock; xchgl %0, %1" : "+r"(before), "+m"(both.lock) : : "memory", "cc");
    both.lock = 0;
    both.done = 1;
    return unused;
}

static void look(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, finish, NULL);
    while (!both.done) {
        sched_yield();
    }
    pthread_join(thread, NULL);
}

int main(void)
{
    return run(look);
}
