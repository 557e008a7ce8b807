/* Race on ready: the signal is sent after the unlock, when the waiter may have destroyed it.
 * Predicted from every order. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready;
static int done;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&ready);
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_cond_init(&ready, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    while (!done) {
        pthread_cond_wait(&ready, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&ready);
    pthread_join(other, NULL);
    return 0;
}
