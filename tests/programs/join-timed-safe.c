/* No race: joined in the end. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static int x;

static void *work(void *unused)
{
    usleep(100000);
    x = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct timespec limit = {1, 0}; /* long ago */
    pthread_create(&thread, NULL, work, NULL);
    int status = pthread_timedjoin_np(thread, NULL, &limit);
    if (status != 0) {
        pthread_join(thread, NULL);
    }
    int seen = x;
    return seen > 1;
}
