/* A queue of a library that is not recorded, as its annotations tell: what was put comes before what is got. The flag stands for
   the library. */
#include <pthread.h>
#include <sched.h>

void AnnotatePCQCreate(const char *file, int line, const volatile void *queue);
void AnnotatePCQPut(const char *file, int line, const volatile void *queue);
void AnnotatePCQGet(const char *file, int line, const volatile void *queue);
void AnnotatePCQDestroy(const char *file, int line, const volatile void *queue);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

static volatile int queue;
static int message;

static void *sender(void *unused)
{
    message = 42;
    AnnotatePCQPut(__FILE__, __LINE__, &queue);
    __tsan_ignore_thread_begin();
    queue = 1;
    __tsan_ignore_thread_end();
    return unused;
}

int main(void)
{
    pthread_t thread;
    AnnotatePCQCreate(__FILE__, __LINE__, &queue);
    pthread_create(&thread, NULL, sender, NULL);
    __tsan_ignore_thread_begin();
    while (!queue)
        sched_yield();
    __tsan_ignore_thread_end();
    AnnotatePCQGet(__FILE__, __LINE__, &queue);
    int seen = message;
    AnnotatePCQDestroy(__FILE__, __LINE__, &queue);
    pthread_join(thread, NULL);
    return seen != 42;
}
