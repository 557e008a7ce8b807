/* A lock of the program's own, annotated as ThreadSanitizer's interface has it, guards each use of the counter. */
#include "annotated-lock.h"

static struct {
    lock mutex;
    int own[2]; /* beside the lock, which is smaller than a mutex */
} shared;
static int counter;

static void *add(void *own)
{
    for (int i = 0; i < 3; i++) {
        take(&shared.mutex);
        counter++;
        give_back(&shared.mutex);
    }
    *(int *)own = 1;
    return NULL;
}

int main(void)
{
    pthread_t one, two;
    __tsan_mutex_create(&shared.mutex, 0);
    pthread_create(&one, NULL, add, &shared.own[0]);
    pthread_create(&two, NULL, add, &shared.own[1]);
    while (!try_take(&shared.mutex))
        sched_yield();
    counter++;
    give_back(&shared.mutex);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    __tsan_mutex_destroy(&shared.mutex, 0);
    return counter == 7 ? 0 : 1;
}
