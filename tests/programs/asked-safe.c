/* No race: who learns that a semaphore has no unit, that no signal is pending, or that a thread has not ended, writes, in a section of
 * its lock. The other thread changes that in its own section, and writes after it. Each way has a lock, so that none hides another one. Who learns that there is a unit, or a signal,
 * comes after the thread that gave it. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { UNITS, PENDING, WAIT, THREAD, WAYS };
static pthread_mutex_t locks[WAYS];
static sem_t units, end;
static sigset_t waited;
static pthread_t third;
static int of_units, of_pending, of_wait, of_thread, by_unit, by_signal;

static void *ends(void *unused)
{
    sem_wait(&end);
    return unused;
}

static int is_pending(int number)
{
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, number);
}

static void *ask(void *unused)
{
    int count;
    struct timespec none = {0};
    pthread_mutex_lock(&locks[UNITS]);
    sem_getvalue(&units, &count);
    if (count == 0)
        of_units = 1;
    pthread_mutex_unlock(&locks[UNITS]);
    pthread_mutex_lock(&locks[PENDING]);
    if (!is_pending(SIGUSR1))
        of_pending = 1;
    pthread_mutex_unlock(&locks[PENDING]);
    pthread_mutex_lock(&locks[WAIT]);
    if (sigtimedwait(&waited, NULL, &none) < 0)
        of_wait = 1;
    pthread_mutex_unlock(&locks[WAIT]);
    pthread_mutex_lock(&locks[THREAD]);
    if (pthread_tryjoin_np(third, NULL) == EBUSY)
        of_thread = 1;
    pthread_mutex_unlock(&locks[THREAD]);
    do
        sem_getvalue(&units, &count);
    while (count == 0);
    by_unit = 2;
    while (!is_pending(SIGUSR2))
        usleep(100);
    by_signal = 2;
    return unused;
}

static void *change(void *unused)
{
    usleep(1000);
    by_unit = 1;
    pthread_mutex_lock(&locks[UNITS]);
    sem_post(&units);
    pthread_mutex_unlock(&locks[UNITS]);
    of_units = 2;
    pthread_mutex_lock(&locks[PENDING]);
    kill(getpid(), SIGUSR1);
    pthread_mutex_unlock(&locks[PENDING]);
    of_pending = 2;
    pthread_mutex_lock(&locks[WAIT]);
    kill(getpid(), SIGALRM);
    pthread_mutex_unlock(&locks[WAIT]);
    of_wait = 2;
    by_signal = 1;
    kill(getpid(), SIGUSR2);
    pthread_mutex_lock(&locks[THREAD]);
    sem_post(&end);
    pthread_join(third, NULL);
    pthread_mutex_unlock(&locks[THREAD]);
    of_thread = 2;
    return unused;
}

int main(void)
{
    pthread_t one, two;
    sem_init(&units, 0, 0);
    sem_init(&end, 0, 0);
    sigset_t blocked;
    sigemptyset(&waited);
    sigaddset(&waited, SIGALRM);
    blocked = waited;
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    for (int i = 0; i < WAYS; i++)
        pthread_mutex_init(&locks[i], NULL);
    pthread_create(&third, NULL, ends, NULL);
    pthread_create(&one, NULL, ask, NULL);
    pthread_create(&two, NULL, change, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
