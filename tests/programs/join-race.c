/* Race on x: read before the thread is joined. Predicted from every order. */
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
    int seen = x;
    pthread_join(thread, NULL);
    return seen > 1;
}
