/* No race: with the lock. */
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int freed;

static void destroy(void *block)
{
    free(block);
    pthread_mutex_lock(&lock);
    freed++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    pthread_setspecific(key, malloc(8));
    pthread_exit(unused);
}

int main(void)
{
    pthread_t first, second;
    pthread_key_create(&key, destroy);
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_mutex_lock(&lock);
    int all = freed;
    pthread_mutex_unlock(&lock);
    return all > 2;
}
