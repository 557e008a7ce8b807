/* The signals of timers, one of them a real-time signal, come while the main thread is in a loop without accesses, and the handler
 * writes x, as the other thread does when it is started later. The signal of glibc for cancellation is ignored, as in a program
 * that posix_spawn has started. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int x;
static sigjmp_buf out;

static void *change(void *unused)
{
    x++;
    return unused;
}

static void end_loop(int number)
{
    (void)number;
    x++;
    siglongjmp(out, 1);
}

static void loop_until(int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    const struct itimerspec soon = {.it_value = {0, 20000000}};
    timer_t timer;
    signal(number, end_loop);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    if (sigsetjmp(out, 1) == 0) {
        timer_settime(timer, 0, &soon, NULL);
        for (;;) {
        }
    }
}

int main(void)
{
    enum { SIGNAL_CANCEL = 32 };
    const unsigned long ignored[4] = {1}; /* SIG_IGN, as the kernel has it */
    pthread_t thread;
    syscall(SYS_rt_sigaction, SIGNAL_CANCEL, ignored, NULL, sizeof ignored[0]);
    loop_until(SIGALRM);
    loop_until(SIGRTMIN + 1);
    loop_until(SIGRTMIN + 1);
    pthread_create(&thread, NULL, change, NULL);
    pthread_join(thread, NULL);
    return x != 4;
}
