/* No race: read after a join that may have to be tried again. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static int x;

static void *work(void *unused)
{
    x = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    while (pthread_tryjoin_np(thread, NULL) != 0) {
    }
    return x != 1;
}
