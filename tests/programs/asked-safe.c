/* No race: who learns that a semaphore has no unit, that no signal is pending, or that a thread has not ended, writes, in a section of
 * `lock`. The other thread changes that in its own section, and writes after it. Who learns that there is a unit, or a signal,
 * comes after the thread that gave it. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t units, end;
static sigset_t both;
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
    pthread_mutex_lock(&lock);
    sem_getvalue(&units, &count);
    if (count == 0)
        of_units = 1;
    if (!is_pending(SIGUSR1))
        of_pending = 1;
    if (sigtimedwait(&both, NULL, &none) < 0)
        of_wait = 1;
    if (pthread_tryjoin_np(third, NULL) == EBUSY)
        of_thread = 1;
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    by_unit = by_signal = 1;
    sem_post(&units);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    sem_post(&end);
    pthread_join(third, NULL);
    pthread_mutex_unlock(&lock);
    of_units = of_pending = of_wait = of_thread = 2;
    return unused;
}

int main(void)
{
    pthread_t one, two;
    sem_init(&units, 0, 0);
    sem_init(&end, 0, 0);
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    pthread_create(&third, NULL, ends, NULL);
    pthread_create(&one, NULL, ask, NULL);
    pthread_create(&two, NULL, change, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
