/* Race on x: the signal of a timer comes while the main thread is in a loop without accesses, and its handler writes x, as the other
 * thread does, which blocks the signal: else the system may give it to that thread. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static int x;
static sigjmp_buf out;

static void *change(void *unused)
{
    x = 1;
    return unused;
}

static void end_loop(int number)
{
    x = number;
    siglongjmp(out, 1);
}

int main(void)
{
    const struct itimerval soon = {.it_value = {0, 20000}};
    sigset_t alarm;
    pthread_t thread;
    signal(SIGALRM, end_loop);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    pthread_create(&thread, NULL, change, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    if (sigsetjmp(out, 1) == 0) {
        setitimer(ITIMER_REAL, &soon, NULL);
        for (;;) {
        }
    }
    pthread_join(thread, NULL);
    return 0;
}
