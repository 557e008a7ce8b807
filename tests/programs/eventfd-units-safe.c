/* No race: an eventfd that is a semaphore with one unit is a lock. Who finds no unit writes in a section of `guard`; the other
 * thread gives one in its own section, and writes after it. */
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int units, none, shared, by_none;

static void *work(void *unused)
{
    uint64_t taken;
    read(units, &taken, sizeof taken);
    shared++;
    eventfd_write(units, 1);
    return unused;
}

static void *find_none(void *unused)
{
    uint64_t taken;
    pthread_mutex_lock(&guard);
    if (read(none, &taken, sizeof taken) < 0)
        by_none = 1;
    pthread_mutex_unlock(&guard);
    return work(unused);
}

static void *give(void *unused)
{
    usleep(1000);
    pthread_mutex_lock(&guard);
    eventfd_write(none, 3);
    pthread_mutex_unlock(&guard);
    by_none = 2;
    return work(unused);
}

int main(void)
{
    pthread_t first, second;
    units = eventfd(1, EFD_SEMAPHORE);
    none = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
    pthread_create(&first, NULL, find_none, NULL);
    pthread_create(&second, NULL, give, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
