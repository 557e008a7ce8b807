/* Race on x: written after the call that is not recorded. Predicted from every order. */
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
    maxrace_reach reach[] = {{&flag, sizeof flag}};
    unsigned long call = maxrace_annotate_call_begin("set_flag", reach, 1);
    set_flag();
    maxrace_annotate_call_end(call);
    x = 1;
    return unused;
}

static void *two(void *unused)
{
    maxrace_reach reach[] = {{&flag, sizeof flag}};
    int set = 0;
    while (!set) {
        sched_yield();
        unsigned long call = maxrace_annotate_call_begin("get_flag", reach, 1);
        set = get_flag();
        maxrace_annotate_call_end(call);
    }
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
