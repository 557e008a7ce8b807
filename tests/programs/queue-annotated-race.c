/* A queue that nothing is told about, in code that is not recorded. Predicted from every order. */
#include <pthread.h>
#include <sched.h>

void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

static volatile int queue;
static int message;

static void *sender(void *unused)
{
    message = 42;
    __tsan_ignore_thread_begin();
    queue = 1;
    __tsan_ignore_thread_end();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sender, NULL);
    __tsan_ignore_thread_begin();
    while (!queue)
        sched_yield();
    __tsan_ignore_thread_end();
    int seen = message;
    pthread_join(thread, NULL);
    return seen != 42;
}
