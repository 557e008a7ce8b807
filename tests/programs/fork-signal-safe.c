/* No race: a child, which is not recorded, is told the handler that its parent installed, and calls it after it has installed it
 * again. Who sleeps by a clock that does not exist is told so. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int number)
{
    (void)number;
    handled = 1;
}

static int in_child(void)
{
    struct sigaction old;
    if (sigaction(SIGUSR1, NULL, &old) != 0 || old.sa_handler != handle)
        return 1;
    if (signal(SIGUSR1, SIG_IGN) != handle || sigaction(SIGUSR1, &old, NULL) != 0)
        return 2;
    raise(SIGUSR1);
    return handled ? 0 : 3;
}

static void *work(void *unused)
{
    struct timespec moment = {0, 1000};
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(in_child());
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
    if (clock_nanosleep(99, 0, &moment, NULL) != EINVAL)
        abort();
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return handled;
}
