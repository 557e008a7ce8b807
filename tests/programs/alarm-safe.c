/* No race: written before the handlers were installed and the timers armed. The handlers run in the
 * other thread, which alone lets the signals through. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static int x, y, seen;
static volatile sig_atomic_t caught;

static void catch_alarm(int number)
{
    seen = number == SIGALRM ? x : y;
    caught++;
}

static void *work(void *unused)
{
    sigset_t none;
    sigemptyset(&none);
    while (caught < 2) {
        sigsuspend(&none);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    sigset_t blocked;
    struct sigaction action = {.sa_handler = catch_alarm};
    struct itimerval soon = {.it_value = {.tv_usec = 50000}};
    struct itimerspec later = {.it_value = {.tv_nsec = 150000000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t timer;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGALRM);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    pthread_create(&thread, NULL, work, NULL);
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
        abort();
    }
    x = 5;
    setitimer(ITIMER_REAL, &soon, NULL);
    y = 6;
    timer_settime(timer, 0, &later, NULL);
    pthread_join(thread, NULL);
    return seen != 6;
}
