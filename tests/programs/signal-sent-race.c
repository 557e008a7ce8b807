/* Race on x: written after the signal was sent. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int x, seen;
static volatile sig_atomic_t caught;

static void catch (int number)
{
    seen = x;
    caught = number;
}

static void *work(void *unused)
{
    while (!caught) {
        usleep(100);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = catch};
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, work, NULL);
    pthread_kill(thread, SIGUSR1);
    x = 5;
    pthread_join(thread, NULL);
    return 0;
}
