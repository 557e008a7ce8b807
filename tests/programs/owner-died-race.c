/* A race: who finds that the owner of a robust mutex has died writes; the other thread writes before its section. Predicted from
 * every order. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t made_good;
static int of_first;

static void *dies(void *unused)
{
    pthread_mutex_lock(&made_good);
    return unused;
}

static void *first(void *unused)
{
    if (pthread_mutex_lock(&made_good) == EOWNERDEAD) {
        of_first = 1;
        pthread_mutex_consistent(&made_good);
    }
    pthread_mutex_unlock(&made_good);
    return unused;
}

static void *later(void *unused)
{
    of_first = 2;
    usleep(1000);
    if (pthread_mutex_lock(&made_good) == EOWNERDEAD)
        pthread_mutex_consistent(&made_good);
    pthread_mutex_unlock(&made_good);
    return unused;
}

int main(void)
{
    pthread_t owner, one, two;
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&made_good, &robust);
    pthread_create(&owner, NULL, dies, NULL);
    pthread_join(owner, NULL);
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, later, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
