/* No race: atomic accesses in assembly, as their annotations tell. */
#include <maxrace/annotate.h>
#include <pthread.h>

static int ready;
static int data, seen;

static void *one(void *unused)
{
    maxrace_atomic atomic;
    data = 7;
    maxrace_annotate_atomic_begin(&atomic, &ready, sizeof ready);
    __asm__ volatile("movl $1, %0" : "=m"(ready) : : "memory");
    maxrace_annotate_atomic_end(&atomic, MAXRACE_ATOMIC_WRITE, __ATOMIC_RELEASE);
    return unused;
}

static int add_nothing(int *to)
{
    maxrace_atomic atomic;
    int old = 0;
    maxrace_annotate_atomic_begin(&atomic, to, sizeof *to);
    __asm__ volatile("lock; xaddl %0, %1" : "+r"(old), "+m"(*to) : : "memory");
    maxrace_annotate_atomic_end(&atomic, MAXRACE_ATOMIC_UPDATE, __ATOMIC_ACQUIRE);
    return old;
}

static void *two(void *unused)
{
    while (!add_nothing(&ready))
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
