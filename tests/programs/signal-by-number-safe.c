/* No race: each word is written before a signal is sent to the thread that reads it, by the thread's number or by a call of the
 * kernel.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAYS = 6 };

static int x[WAYS], seen[WAYS];
static atomic_int caught;
static pid_t receiver;
static pthread_barrier_t begun;

static void catch (int number)
{
    (void)number;
    seen[caught] = x[caught];
    caught++;
}

static void *work(void *unused)
{
    receiver = gettid();
    pthread_barrier_wait(&begun);
    while (caught < WAYS) {
        usleep(100);
    }
    return unused;
}

static void send_by(int way)
{
    int process = 0;
    switch (way) {
    case 0:
        tgkill(getpid(), receiver, SIGUSR1);
        break;
    case 1:
        syscall(SYS_tgkill, getpid(), receiver, SIGUSR1);
        break;
    case 2:
        syscall(SYS_tkill, receiver, SIGUSR1);
        break;
    case 3:
        syscall(SYS_kill, getpid(), SIGUSR1);
        break;
    case 4:
        syscall(SYS_kill, -getpgrp(), SIGUSR1);
        break;
    default:
        process = (int)syscall(SYS_pidfd_open, getpid(), 0);
        if (process < 0 || syscall(SYS_pidfd_send_signal, process, SIGUSR1, NULL, 0) != 0) {
            kill(getpid(), SIGUSR1); /* where the kernel has no such descriptors */
        }
        close(process);
        break;
    }
}

int main(void)
{
    pthread_t thread;
    sigset_t set;
    struct sigaction action = {.sa_handler = catch};
    sigaction(SIGUSR1, &action, NULL);
    setpgid(0, 0); /* who leads a session has a group of its own */
    pthread_barrier_init(&begun, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_barrier_wait(&begun);
    for (int way = 0; way < WAYS; way++) {
        x[way] = way + 1;
        send_by(way);
        while (caught <= way) {
            usleep(100);
        }
    }
    pthread_join(thread, NULL);
    return seen[0] == 1 && seen[WAYS - 1] == WAYS ? 0 : 1;
}
