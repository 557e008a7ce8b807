/* Atomic accesses in assembly, with their annotations, and on them a grace period: readers say in a
 * counter of their own that they read, and who has taken something out waits until nobody who may have
 * seen it reads any more. */
#include <maxrace/annotate.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { READERS = 2, ROUNDS = 3 };

typedef struct item {
    int value;
} item;

static item *current;
static long reading[READERS];
static int sums[READERS];

static void full_barrier(void)
{
    __asm__ volatile("lock; addl $0, -4(%%rsp)" : : : "memory", "cc");
    maxrace_annotate_fence(__ATOMIC_SEQ_CST);
}

static void *swap_pointer(void *to, void *value)
{
    maxrace_atomic atomic;
    maxrace_annotate_atomic_begin(&atomic, to, sizeof value);
    __asm__ volatile("xchgq %0, %1" : "+r"(value), "+m"(*(void **)to) : : "memory");
    maxrace_annotate_atomic_end(&atomic, MAXRACE_ATOMIC_UPDATE, __ATOMIC_SEQ_CST);
    return value;
}

static void *load_pointer(void *from)
{
    maxrace_atomic atomic;
    void *value;
    maxrace_annotate_atomic_begin(&atomic, from, sizeof value);
    __asm__ volatile("movq %1, %0" : "=r"(value) : "m"(*(void **)from) : "memory");
    maxrace_annotate_atomic_end(&atomic, MAXRACE_ATOMIC_READ, __ATOMIC_CONSUME);
    return value;
}

static long load(long *from)
{
    maxrace_atomic atomic;
    long value;
    maxrace_annotate_atomic_begin(&atomic, from, sizeof value);
    __asm__ volatile("movq %1, %0" : "=r"(value) : "m"(*from) : "memory");
    maxrace_annotate_atomic_end(&atomic, MAXRACE_ATOMIC_READ, __ATOMIC_RELAXED);
    return value;
}

static void store(long *to, long value)
{
    maxrace_atomic atomic;
    maxrace_annotate_atomic_begin(&atomic, to, sizeof value);
    __asm__ volatile("movq %1, %0" : "=m"(*to) : "r"(value) : "memory");
    maxrace_annotate_atomic_end(&atomic, MAXRACE_ATOMIC_WRITE, __ATOMIC_RELAXED);
}

static void *read_items(void *number)
{
    long me = (long)number;
    for (int i = 0; i < ROUNDS; i++) {
        store(&reading[me], 1);
        full_barrier();
        item *seen = load_pointer(&current);
        sums[me] += seen->value;
        full_barrier();
        store(&reading[me], 0);
    }
    return NULL;
}

static void wait_for_readers(void)
{
    full_barrier();
    for (int i = 0; i < READERS; i++) {
        while (load(&reading[i])) {
            sched_yield();
        }
    }
    full_barrier();
}

static item *new_item(int value)
{
    item *fresh = malloc(sizeof *fresh);
    if (fresh == NULL) {
        abort();
    }
    fresh->value = value;
    return fresh;
}

/* `update` puts an item in the place of the current one, and frees that. */
static int run(void (*update)(item *))
{
    pthread_t readers[READERS];
    current = new_item(0);
    for (long i = 0; i < READERS; i++) {
        pthread_create(&readers[i], NULL, read_items, (void *)i);
    }
    for (int i = 1; i <= ROUNDS; i++) {
        update(new_item(i));
    }
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i], NULL);
    }
    free(current);
    return 0;
}
