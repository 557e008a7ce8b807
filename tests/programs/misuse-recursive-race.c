/* Observed: a recursive mutex is unlocked once more than it was locked, and one is unlocked that nobody locked. Both calls fail.
 * Predicted from every order. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t twice = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t never = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void *work(void *unused)
{
    pthread_mutex_lock(&twice);
    pthread_mutex_lock(&twice);
    pthread_mutex_unlock(&twice);
    pthread_mutex_unlock(&twice);
    return pthread_mutex_unlock(&twice) == EPERM ? unused : &twice;
}

int main(void)
{
    pthread_t other;
    void *wrong;
    pthread_create(&other, NULL, work, NULL);
    pthread_join(other, &wrong);
    return wrong == NULL && pthread_mutex_unlock(&never) == EPERM ? 0 : 1;
}
