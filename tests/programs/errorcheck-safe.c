/* No race: it takes notice. */
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int x;

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    int status = pthread_mutex_lock(&lock);
    if (status == 0) {
        pthread_mutex_unlock(&lock);
    }
    x = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *two(void *unused)
{
    pthread_mutex_lock(&lock);
    x = 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
