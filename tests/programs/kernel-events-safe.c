/* No race: who reads a timer or a signal from a descriptor, or waits for a child or at a barrier that processes could share, comes after
 * the thread that caused that. Who finds one of two pipes ready and the other one not writes, in a section of `lock`; the
 * other thread fills that pipe in its own section, and writes after it. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t shared;
static int timer, signals, of_signal_wait, ends[2][2];
static pid_t sleeper, spawned;
static int by_timer, by_signal, by_poll, by_fork, by_spawn, by_kill, by_barrier, of_pipe;

static void *learn(void *unused)
{
    unsigned long long count;
    struct signalfd_siginfo info;
    struct pollfd found[2] = {{.fd = ends[0][0], .events = POLLIN},
                              {.fd = ends[1][0], .events = POLLIN}};
    struct pollfd one = {.fd = of_signal_wait, .events = POLLIN};
    pthread_mutex_lock(&lock);
    poll(found, 2, 0);
    if (found[0].revents != 0 && found[1].revents == 0)
        of_pipe = 1;
    pthread_mutex_unlock(&lock);
    read(timer, &count, sizeof count);
    by_timer = 2;
    read(signals, &info, sizeof info);
    by_signal = 2;
    poll(&one, 1, -1);
    by_poll = 2;
    waitpid(sleeper, NULL, 0);
    by_kill = 2;
    while (wait(NULL) < 0)
        usleep(100);
    by_fork = 2;
    while (wait(NULL) < 0)
        usleep(100);
    by_spawn = 2;
    pthread_barrier_wait(&shared);
    by_barrier = 2;
    return unused;
}

static void *cause(void *unused)
{
    struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    usleep(1000);
    pthread_mutex_lock(&lock);
    write(ends[1][1], "c", 1);
    pthread_mutex_unlock(&lock);
    of_pipe = 2;
    by_timer = 1;
    timerfd_settime(timer, 0, &soon, NULL);
    by_signal = 1;
    kill(getpid(), SIGUSR1);
    by_poll = 1;
    kill(0, SIGUSR2); /* the child has it blocked, too */
    by_kill = 1;
    kill(sleeper, SIGKILL);
    by_fork = 1;
    if (fork() == 0)
        _exit(0);
    by_spawn = 1;
    posix_spawn(&spawned, "/bin/true", NULL, NULL, (char *[]){"true", NULL}, environ);
    by_barrier = 1;
    pthread_barrier_wait(&shared);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    sigset_t one, two;
    setpgid(0, 0);
    pthread_barrierattr_t attributes;
    sigemptyset(&one);
    sigemptyset(&two);
    sigaddset(&one, SIGUSR1);
    sigaddset(&two, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    pthread_sigmask(SIG_BLOCK, &two, NULL);
    sleeper = fork();
    while (sleeper == 0)
        pause();
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared, &attributes, 2);
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    signals = signalfd(-1, &one, 0);
    of_signal_wait = signalfd(-1, &two, 0);
    for (int i = 0; i < 2; i++)
        pipe(ends[i]);
    write(ends[0][1], "ab", 2);
    pthread_create(&first, NULL, learn, NULL);
    pthread_create(&second, NULL, cause, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
