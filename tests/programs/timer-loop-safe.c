/* The signals of timers, one of them a real-time signal, come while the main thread is in a loop without accesses, and the handler
 * writes x, as the other thread does when it is started later. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>

static int x;
static sigjmp_buf out;

static void *change(void *unused)
{
    x++;
    return unused;
}

static void end_loop(int number)
{
    (void)number;
    x++;
    siglongjmp(out, 1);
}

static void loop_until(int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    const struct itimerspec soon = {.it_value = {0, 20000000}};
    timer_t timer;
    signal(number, end_loop);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    if (sigsetjmp(out, 1) == 0) {
        timer_settime(timer, 0, &soon, NULL);
        for (;;) {
        }
    }
}

int main(void)
{
    pthread_t thread;
    loop_until(SIGALRM);
    loop_until(SIGRTMIN + 1);
    loop_until(SIGRTMIN + 1);
    pthread_create(&thread, NULL, change, NULL);
    pthread_join(thread, NULL);
    return x != 4;
}
