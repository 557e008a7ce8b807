/* A race whose other order ends the program with another status. */
#include <pthread.h>

static int shared;

static void *set(void *unused)
{
    shared = 1;
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, set, NULL);
    int status = shared;
    pthread_join(other, NULL);
    return status ? 3 : 0;
}
