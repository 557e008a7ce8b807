/* A lock of the program's own, annotated as ThreadSanitizer's interface has it, guards each use of the counter. */
#include "annotated-lock.h"

static lock mutex;
static int counter;

static void *add(void *unused)
{
    for (int i = 0; i < 3; i++) {
        take(&mutex);
        counter++;
        give_back(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t one, two;
    __tsan_mutex_create(&mutex, 0);
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    while (!try_take(&mutex))
        sched_yield();
    counter++;
    give_back(&mutex);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    __tsan_mutex_destroy(&mutex, 0);
    return counter == 7 ? 0 : 1;
}
