/* No race: a timer calls a function in a thread of its own (SIGEV_THREAD); what is written before it is armed comes before,
 * and the function hands over by a semaphore. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;
static int step, sum, calls;

static void call(union sigval value)
{
    pthread_mutex_lock(&lock);
    sum += *(const int *)value.sival_ptr;
    if (++calls == 3) {
        sem_post(&done);
    }
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = call,
                             .sigev_value.sival_ptr = &step};
    struct itimerspec often = {{0, 1000000}, {0, 1000000}}, never = {{0, 0}, {0, 0}};
    struct timespec while_it_is_off = {1, 0};
    timer_t timer;
    sem_init(&done, 0, 0);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
        return 1;
    }
    step = 7;
    timer_settime(timer, 0, &often, NULL);
    sem_wait(&done);
    timer_settime(timer, 0, &never, NULL);
    nanosleep(&while_it_is_off, NULL);
    pthread_mutex_lock(&lock);
    int before = calls;
    pthread_mutex_unlock(&lock);
    nanosleep(&while_it_is_off, NULL);
    pthread_mutex_lock(&lock);
    int status = calls == before && sum == 7 * calls ? 0 : 1;
    pthread_mutex_unlock(&lock);
    timer_delete(timer);
    return status;
}
