/* Race with a thread that nobody joins, while main ends the process: the thread has its turns before that. Predicted from every order. */
#include <pthread.h>

static int shared;

static void *work(void *unused)
{
    shared++;
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    shared++;
    return 0;
}
