/* No race: real-time signals come in a burst while their thread creates others. None is lost, and no thread finds their number
 * blocked, which nobody has asked for.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { SIGNALS = 300, THREADS = 300, PATIENCE = 2000 };

static pthread_t receiver;
static volatile int handled;
static atomic_int blocked;

static void handle(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    handled++;
}

static void *send_all(void *unused)
{
    for (int i = 0; i < SIGNALS; i++) {
        while (pthread_sigqueue(receiver, SIGRTMIN + 1, (union sigval){.sival_int = i}) != 0) {
            sched_yield();
        }
    }
    return unused;
}

static void *look(void *unused)
{
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    blocked += sigismember(&mask, SIGRTMIN + 1);
    return unused;
}

int main(void)
{
    const struct timespec pause = {0, 1000000};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
    receiver = pthread_self();
    sigaction(SIGRTMIN + 1, &action, NULL);
    pthread_t sender, other;
    pthread_create(&sender, NULL, send_all, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&other, NULL, look, NULL);
        pthread_join(other, NULL);
    }
    pthread_join(sender, NULL);
    for (int i = 0; i < PATIENCE && handled < SIGNALS; i++) {
        nanosleep(&pause, NULL);
    }
    return handled == SIGNALS && blocked == 0 ? 0 : 1;
}
