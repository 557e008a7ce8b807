/* No race: threads that wait for a mutex and a read-write lock, which the one that cancels them
 * holds, are cancelled asynchronously, and clean up under a lock. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t kept_too = PTHREAD_RWLOCK_INITIALIZER;
static int cleaned, entered;

static void clean(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    cleaned++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *argument)
{
    pthread_cleanup_push(clean, NULL);
    pthread_mutex_lock(&lock);
    entered++;
    pthread_mutex_unlock(&lock);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    if (argument == NULL) {
        pthread_mutex_lock(&kept);
    } else {
        pthread_rwlock_wrlock(&kept_too);
    }
    pthread_cleanup_pop(1);
    return argument;
}

static int all_entered(void)
{
    pthread_mutex_lock(&lock);
    int count = entered;
    pthread_mutex_unlock(&lock);
    return count == 2;
}

int main(void)
{
    pthread_t threads[2];
    void *results[2];
    pthread_mutex_lock(&kept);
    pthread_rwlock_rdlock(&kept_too);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, i == 0 ? NULL : &lock);
    }
    while (!all_entered()) {
        sched_yield();
    }
    for (int i = 0; i < 2; i++) {
        pthread_cancel(threads[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &results[i]);
        if (results[i] != PTHREAD_CANCELED) {
            abort();
        }
    }
    pthread_rwlock_unlock(&kept_too);
    pthread_mutex_unlock(&kept);
    return cleaned != 2;
}
