/* No race: destroyed right after the broadcast, while those who were woken still leave their wait. */
#include <pthread.h>

enum { WAITERS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready, arrived;
static int waiting, done;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_signal(&arrived);
    while (!done) {
        pthread_cond_wait(&ready, &lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t others[WAITERS];
    pthread_cond_init(&ready, NULL);
    pthread_cond_init(&arrived, NULL);
    for (int i = 0; i < WAITERS; i++) {
        pthread_create(&others[i], NULL, work, NULL);
    }
    pthread_mutex_lock(&lock);
    while (waiting < WAITERS) {
        pthread_cond_wait(&arrived, &lock);
    }
    done = 1;
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&ready);
    pthread_cond_destroy(&arrived);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(others[i], NULL);
    }
    return 0;
}
