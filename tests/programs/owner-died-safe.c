/* No race: who finds that the owner of a robust mutex has died writes; who comes after that does not find it, and writes after its
 * section. The second mutex is released as it was found, so nobody can take it any more: who is told so writes. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t made_good, lost;
static int of_first, of_later;

static void *dies(void *unused)
{
    pthread_mutex_lock(&made_good);
    pthread_mutex_lock(&lost);
    return unused;
}

static void *first(void *unused)
{
    if (pthread_mutex_lock(&made_good) == EOWNERDEAD) {
        of_first = 1;
        pthread_mutex_consistent(&made_good);
    }
    pthread_mutex_unlock(&made_good);
    if (pthread_mutex_lock(&lost) == EOWNERDEAD) {
        of_later = 1;
        pthread_mutex_unlock(&lost);
    }
    return unused;
}

static void *later(void *unused)
{
    usleep(1000);
    int found = pthread_mutex_lock(&made_good);
    if (found == EOWNERDEAD)
        pthread_mutex_consistent(&made_good);
    pthread_mutex_unlock(&made_good);
    if (found == 0)
        of_first = 2;
    usleep(1000);
    found = pthread_mutex_lock(&lost);
    if (found == ENOTRECOVERABLE)
        of_later = 2;
    else if (found == 0 || found == EOWNERDEAD)
        pthread_mutex_unlock(&lost);
    return unused;
}

int main(void)
{
    pthread_t owner, one, two;
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&made_good, &robust);
    pthread_mutex_init(&lost, &robust);
    pthread_create(&owner, NULL, dies, NULL);
    pthread_join(owner, NULL);
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, later, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
