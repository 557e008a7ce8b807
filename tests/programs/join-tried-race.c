/* Race on data: the thread that is to be joined has ended, as the first try says, when others access it. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

static int data;

static void *end(void *unused)
{
    return unused;
}

static void *change(void *unused)
{
    pthread_t thread;
    pthread_create(&thread, NULL, end, NULL);
    while (pthread_tryjoin_np(thread, NULL) != 0) {
        sched_yield();
    }
    data++;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, change, NULL);
    pthread_create(&second, NULL, change, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
