/* A race: a timer calls a function in threads of their own (SIGEV_THREAD), which count without a lock. Predicted from every
 * order. */
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static sem_t done;
static int calls;

static void call(union sigval value)
{
    calls++;
    sem_post(value.sival_ptr);
}

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = call,
                             .sigev_value.sival_ptr = &done};
    struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    timer_t timer;
    sem_init(&done, 0, 0);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
        return 1;
    }
    timer_settime(timer, 0, &often, NULL);
    sem_wait(&done);
    sem_wait(&done);
    timer_delete(timer);
    return 0;
}
