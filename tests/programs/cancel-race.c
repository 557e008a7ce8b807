/* Race on cleaned: read before the cancelled thread is joined. Predicted from the orders in which
 * the thread began before it was cancelled. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int cleaned;

static void clean(void *unused)
{
    (void)unused;
    cleaned = 1;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, NULL);
    for (;;) {
        pthread_cond_wait(&never, &lock);
    }
    pthread_cleanup_pop(1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, work, NULL);
    usleep(1000);
    pthread_cancel(thread);
    int seen = cleaned;
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED && seen <= 1 ? 0 : 1;
}
