/* Race on done: when the critical section of the thread is the second one, it was cancelled before, but has
 * no cancellation point before its write. Predicted from every order. */
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
    done = 1;
    pthread_testcancel();
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
