/* Race on count: a handler that sigset installs runs beside the thread that has sent the signal. Predicted from every order. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int count;

static void handle(int number)
{
    (void)number;
    count++;
}

static void *send(void *unused)
{
    kill(getpid(), SIGUSR1);
    count++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    sigset(SIGUSR1, handle);
    sighold(SIGUSR1);
    pthread_create(&thread, NULL, send, NULL);
    sigpause(SIGUSR1);
    pthread_join(thread, NULL);
    return 0;
}
