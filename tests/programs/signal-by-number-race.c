/* Race on x: written after the signal was sent by the number of the thread. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int x;
static volatile int seen;
static volatile sig_atomic_t caught;
static pid_t receiver;
static pthread_barrier_t begun;

static void catch (int number)
{
    seen = x;
    caught = number;
}

static void *work(void *unused)
{
    receiver = gettid();
    pthread_barrier_wait(&begun);
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
    pthread_barrier_init(&begun, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    pthread_barrier_wait(&begun);
    tgkill(getpid(), receiver, SIGUSR1);
    x = 5;
    pthread_join(thread, NULL);
    return 0;
}
