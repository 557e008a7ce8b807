/* No race: sleeping and a join. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static int x;

static void *work(void *unused)
{
    struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
    x = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    usleep(20000);
    int seen = x;
    return seen > 1;
}
