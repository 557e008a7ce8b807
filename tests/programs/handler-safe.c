/* No race: written before the handler was installed. Who sends the signal does not matter: here it
 * is another process. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int x, seen;
static volatile sig_atomic_t caught;

static void catch_signal(int number)
{
    seen = number == SIGUSR1 ? x : 0;
    caught++;
}

static void *work(void *unused)
{
    sigset_t none;
    sigemptyset(&none);
    while (caught == 0) {
        sigsuspend(&none);
    }
    return unused;
}

/* The process sends it to us when we have no more to do than to wait. */
static void let_send(pid_t to)
{
    if (fork() == 0) {
        usleep(100000);
        kill(to, SIGUSR1);
        _exit(0);
    }
}

int main(void)
{
    pthread_t thread;
    sigset_t blocked;
    struct sigaction action = {.sa_handler = catch_signal};
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    let_send(getpid());
    pthread_create(&thread, NULL, work, NULL);
    x = 5;
    sigaction(SIGUSR1, &action, NULL);
    pthread_join(thread, NULL);
    return 0;
}
