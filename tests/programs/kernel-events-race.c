/* A race: the thread that sets a timer writes after that, and so does who finds that it has expired. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int timer, by_timer;

static void *learn(void *unused)
{
    unsigned long long count;
    read(timer, &count, sizeof count);
    by_timer = 2;
    return unused;
}

static void *cause(void *unused)
{
    struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    timerfd_settime(timer, 0, &soon, NULL);
    by_timer = 1;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_create(&first, NULL, learn, NULL);
    pthread_create(&second, NULL, cause, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
