/* No race: written only when the lock was got. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    usleep(20000);
    x = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *two(void *unused)
{
    struct timespec limit = {1, 0}; /* long ago */
    int status = pthread_mutex_timedlock(&lock, &limit);
    if (status == 0) {
        x = 2;
        pthread_mutex_unlock(&lock);
    }
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
