/* No race: timers end sleeps at the time that the clocks show then, in one thread and in several.
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t caught;
static int slept;

static void catch_timer(int number)
{
    caught += number != 0;
}

static double now(void)
{
    struct timespec at;
    assert(clock_gettime(CLOCK_MONOTONIC, &at) == 0);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void *work(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    double start = now();
    assert(sleep(7) == 0);
    assert(now() - start >= 7 && now() - start < 8);
    pthread_mutex_lock(&lock);
    slept++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = catch_timer};
    struct itimerspec seconds = {{1, 0}, {1, 0}};
    timer_t timer;
    sigaction(SIGALRM, &action, NULL);
    double start = now();
    alarm(2);
    unsigned left = sleep(10);
    assert(left >= 7 && left <= 8 && caught == 1);
    assert(now() - start >= 2 && now() - start < 3);
    assert(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
    start = now();
    assert(timer_settime(timer, 0, &seconds, NULL) == 0);
    pthread_create(&thread, NULL, work, NULL);
    while (caught < 4) {
        sleep(100);
    }
    assert(now() - start >= 3 && now() - start < 4);
    timer_delete(timer);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock);
    int seen = slept;
    pthread_mutex_unlock(&lock);
    return seen != 1;
}
