/* Race on caught: a handler writes what another thread reads. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

static volatile sig_atomic_t caught;

static void catch (int number)
{
    caught = number;
}

static void *work(void *unused)
{
    raise(SIGUSR1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = catch};
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, work, NULL);
    int seen = caught;
    pthread_join(thread, NULL);
    return seen != 0 && seen != SIGUSR1;
}
