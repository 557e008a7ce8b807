/* No race: an order that the program states: the flag is written by code that is not recorded. */
#include <maxrace/annotate.h>
#include <pthread.h>
#include <sched.h>

static int flag, x;

#define NOT_RECORDED __attribute__((no_sanitize("thread"), noinline))

NOT_RECORDED static void set_flag(void)
{
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
}

NOT_RECORDED static int get_flag(void)
{
    return __atomic_load_n(&flag, __ATOMIC_ACQUIRE);
}

static void *one(void *unused)
{
    x = 1;
    maxrace_annotate_happens_before(&flag);
    set_flag();
    return unused;
}

static void *two(void *unused)
{
    while (!get_flag()) {
        sched_yield();
    }
    maxrace_annotate_happens_after(&flag);
    x++;
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
