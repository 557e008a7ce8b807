/* No race: written before it was sent. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

static int x;

static void *work(void *unused)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigwait(&set, &number);
    x++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, work, NULL);
    x = 5;
    pthread_kill(thread, SIGUSR2);
    pthread_join(thread, NULL);
    return 0;
}
