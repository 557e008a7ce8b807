/* No race: each thread waits until main has used its local variable; stacks are used again. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static int *_Atomic place;

static void *work(void *unused)
{
    int local = 0;
    place = &local;
    while (place != NULL) {
        sched_yield();
    }
    return local == 1 ? unused : &place;
}

int main(void)
{
    void *failed = NULL;
    for (int i = 0; i < 2 && failed == NULL; i++) {
        pthread_t other;
        pthread_create(&other, NULL, work, NULL);
        while (place == NULL) {
            sched_yield();
        }
        *place = 1;
        place = NULL;
        pthread_join(other, &failed);
    }
    return failed != NULL;
}
