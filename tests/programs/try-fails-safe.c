/* No race: who fails to get a lock or a unit writes, in a section of `lock`. The other thread gives it back in its own section,
 * and writes after that. Were its section first, the try would succeed. */
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t timed = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t read_held = PTHREAD_RWLOCK_INITIALIZER,
                        write_held = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t units, begun;
static int of_mutex, of_timed, of_reader, of_writer, of_spin, of_units;

static void *try_all(void *unused)
{
    struct timespec past = {.tv_sec = 1};
    sem_wait(&begun);
    pthread_mutex_lock(&lock);
    if (pthread_mutex_trylock(&mutex) != 0)
        of_mutex = 1;
    if (pthread_mutex_timedlock(&timed, &past) != 0)
        of_timed = 1;
    if (pthread_rwlock_trywrlock(&read_held) != 0)
        of_reader = 1;
    if (pthread_rwlock_tryrdlock(&write_held) != 0)
        of_writer = 1;
    if (pthread_spin_trylock(&spin) != 0)
        of_spin = 1;
    if (sem_trywait(&units) != 0)
        of_units = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *give_back(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&timed);
    pthread_rwlock_rdlock(&read_held);
    pthread_rwlock_wrlock(&write_held);
    pthread_spin_lock(&spin);
    sem_post(&begun);
    usleep(1000);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&timed);
    pthread_rwlock_unlock(&read_held);
    pthread_rwlock_unlock(&write_held);
    pthread_spin_unlock(&spin);
    sem_post(&units);
    pthread_mutex_unlock(&lock);
    of_mutex = of_timed = of_reader = of_writer = of_spin = of_units = 2;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&units, 0, 0);
    sem_init(&begun, 0, 0);
    pthread_create(&first, NULL, try_all, NULL);
    pthread_create(&second, NULL, give_back, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
