/* A queue of jobs with a flag that says that no more will come: the flag is set without the lock.
 * docs/tutorial.md. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { JOBS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting; /* jobs in the queue */
static bool closed;

static void *produce(void *unused)
{
    (void)unused;
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&lock);
        waiting++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    closed = true;
    pthread_cond_signal(&changed);
    return NULL;
}

static void *consume(void *unused)
{
    (void)unused;
    int done = 0;
    pthread_mutex_lock(&lock);
    while (true) {
        while (waiting == 0 && !closed)
            pthread_cond_wait(&changed, &lock);
        if (waiting == 0)
            break;
        waiting--;
        done++;
    }
    pthread_mutex_unlock(&lock);
    printf("%d jobs done\n", done);
    return NULL;
}

int main(void)
{
    pthread_t producer, consumer;
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_create(&producer, NULL, produce, NULL);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    return 0;
}
