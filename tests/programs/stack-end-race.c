/* Race on a local variable of a thread that does not wait: its stack ends while main may still use
 * it. Predicted from every order in which main comes first. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static int *_Atomic place;

static void *work(void *unused)
{
    int local = 0;
    place = &local;
    sched_yield();
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    while (place == NULL) {
        sched_yield();
    }
    *place = 1;
    pthread_join(other, NULL);
    return 0;
}
