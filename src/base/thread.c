#define _GNU_SOURCE /* CPU_COUNT */
#include "thread.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

bool mr_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* of a file that is mapped and has changed: a handler may say so */
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

unsigned mr_thread_cores(void)
{
    cpu_set_t given;
    CPU_ZERO(&given);
    if (sched_getaffinity(0, sizeof given, &given) == 0)
        return (unsigned)CPU_COUNT(&given);
    /* The machine has more processors than the set has room for. */
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}
