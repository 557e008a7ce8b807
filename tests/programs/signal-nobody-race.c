/* Race on shared. The thread that signals finds nobody in the recorded order; in the witness another one sleeps by then, which its
 * signal would wake. Predicted from every order. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER, mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int shared, waits, done;

static void *signals(void *unused)
{
    pthread_mutex_lock(&order);
    pthread_cond_signal(&condition);
    shared++;
    pthread_mutex_unlock(&order);
    return unused;
}

static void *sleeps(void *unused)
{
    usleep(1000);
    pthread_mutex_lock(&order);
    pthread_mutex_unlock(&order);
    pthread_mutex_lock(&mutex);
    waits = 1;
    while (!done)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *looks(void *unused)
{
    int seen = 0;
    while (!seen) {
        pthread_mutex_lock(&mutex);
        seen = waits;
        pthread_mutex_unlock(&mutex);
        sched_yield();
    }
    shared++;
    return unused;
}

int main(void)
{
    pthread_t first, second, third;
    pthread_create(&first, NULL, signals, NULL);
    pthread_create(&second, NULL, sleeps, NULL);
    pthread_create(&third, NULL, looks, NULL);
    pthread_join(third, NULL);
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(second, NULL);
    pthread_join(first, NULL);
    return 0;
}
