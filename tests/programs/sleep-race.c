/* Race on x: sleeping is no synchronisation. Predicted from every order. */
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
    usleep(20000);
    int seen = x;
    pthread_join(thread, NULL);
    return seen > 1;
}
