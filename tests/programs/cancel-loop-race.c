/* Race on cleaned: threads in a loop without any access are cancelled, and clean up without a lock.
 * Predicted from every order. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { THREADS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cleaned, entered;

static void clean(void *unused)
{
    (void)unused;
    cleaned++;
}

static void *work(void *argument)
{
    pthread_cleanup_push(clean, NULL);
    pthread_mutex_lock(&lock);
    entered++;
    pthread_mutex_unlock(&lock);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) {
        __asm__ volatile("");
    }
    pthread_cleanup_pop(1);
    return argument;
}

static int all_entered(void)
{
    pthread_mutex_lock(&lock);
    int count = entered;
    pthread_mutex_unlock(&lock);
    return count == THREADS;
}

int main(void)
{
    pthread_t threads[THREADS];
    void *results[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    while (!all_entered()) {
        sched_yield();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_cancel(threads[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &results[i]);
        if (results[i] != PTHREAD_CANCELED) {
            abort();
        }
    }
    return cleaned != THREADS;
}
