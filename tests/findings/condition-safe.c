/* The waiter gives its lock back while it waits, and main comes to the other order only after it. */
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER, owner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool ready, done;
static int taken;

static void *take(void *unused)
{
    pthread_mutex_lock(&queue);
    while (!ready) {
        pthread_cond_wait(&changed, &queue);
    }
    pthread_mutex_lock(&owner);
    taken++;
    pthread_mutex_unlock(&owner);
    done = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&queue);
    return unused;
}

int main(void)
{
    pthread_t taker;
    pthread_create(&taker, NULL, take, NULL);
    pthread_mutex_lock(&queue);
    ready = true;
    pthread_cond_signal(&changed);
    while (!done) {
        pthread_cond_wait(&changed, &queue);
    }
    pthread_mutex_unlock(&queue);
    pthread_mutex_lock(&owner);
    pthread_mutex_lock(&queue);
    taken++;
    pthread_mutex_unlock(&queue);
    pthread_mutex_unlock(&owner);
    return pthread_join(taker, NULL);
}
