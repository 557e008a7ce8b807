/* No race: read only when it is ready. */
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, data, seen;

static void *one(void *unused)
{
    usleep(50000);
    data = 7;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *two(void *unused)
{
    struct timespec limit = {1, 0}; /* long ago */
    int status = 0;
    pthread_mutex_lock(&lock);
    while (!ready && status != ETIMEDOUT) {
        status = pthread_cond_timedwait(&changed, &lock, &limit);
    }
    int got = ready;
    pthread_mutex_unlock(&lock);
    if (got) {
        seen = data;
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
