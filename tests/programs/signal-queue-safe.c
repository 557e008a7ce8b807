/* No race: real-time signals that are queued while they are blocked come one after the other, each with its value, and their
 * handler is ordered after what was done before they were sent.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { SIGNALS = 10 };

static int values[SIGNALS], last, sum;

static void handle(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    if (info->si_value.sival_int != last) {
        abort(); /* not in order, or one is lost */
    }
    sum += values[last++];
}

static void *work(void *unused)
{
    for (int i = 0; i < SIGNALS; i++) {
        values[i] = i;
        if (sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i}) != 0) {
            abort();
        }
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    sigset_t set;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigaction(SIGRTMIN + 1, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return last == SIGNALS && sum == SIGNALS * (SIGNALS - 1) / 2 ? 0 : 1;
}
