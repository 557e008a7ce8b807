/* A thread that takes the locks in opposite order only tries, and backs off. */
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&b);
        if (pthread_mutex_trylock(&a) == 0) {
            break;
        }
        pthread_mutex_unlock(&b);
        sched_yield();
    }
    total++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}

int main(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    total++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return pthread_join(worker, NULL);
}
