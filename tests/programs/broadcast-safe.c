/* No race: they count with the lock. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open, count;

static void *visitor(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!is_open) {
        pthread_cond_wait(&opened, &lock);
    }
    count++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t visitors[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&visitors[i], NULL, visitor, NULL);
    }
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++) {
        pthread_join(visitors[i], NULL);
    }
    return 0;
}
