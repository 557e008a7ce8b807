/* No race: a timer whose absolute time is that of the call expires at once and calls its function in a thread of its own, which
 * hands over by a semaphore. A recorded program's clock goes by a microsecond an event, so that one of these times is it. */
#include <semaphore.h>
#include <signal.h>
#include <time.h>

enum { TIMES = 12 };
static sem_t done;
static int calls;

static void call(union sigval value)
{
    calls += *(const int *)value.sival_ptr;
    sem_post(&done);
}

int main(void)
{
    int one = 1;
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = call, .sigev_value.sival_ptr = &one};
    struct itimerspec now = {{0, 0}, {0, 0}};
    timer_t timer;
    sem_init(&done, 0, 0);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
        return 1;
    }
    for (int after = 0; after < TIMES; after++) {
        clock_gettime(CLOCK_MONOTONIC, &now.it_value);
        now.it_value.tv_nsec += after * 1000;
        now.it_value.tv_sec += now.it_value.tv_nsec / 1000000000;
        now.it_value.tv_nsec %= 1000000000;
        timer_settime(timer, TIMER_ABSTIME, &now, NULL);
        sem_wait(&done);
    }
    timer_delete(timer);
    return calls == TIMES ? 0 : 1;
}
