/* No race: read after the thread that handled the signal was joined. */
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
    pthread_join(thread, NULL);
    int seen = caught;
    return seen != 0 && seen != SIGUSR1;
}
