/* No race: when the critical section of the thread is the second one, it was cancelled before, and ends in
 * its cancellation point. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void unlock(void *unused)
{
    (void)unused;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, NULL);
    pthread_testcancel();
    done = 1;
    pthread_cleanup_pop(1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_cancel(thread);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    int seen = done;
    pthread_join(thread, NULL);
    return seen > 1;
}
