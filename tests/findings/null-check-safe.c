/* The test and the use are two reads under one lock. */
#include <pthread.h>
#include <stdlib.h>

static int *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    if (current == NULL) {
        pthread_mutex_unlock(&lock);
        return unused;
    }
    *current += 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t worker;
    int *own = calloc(1, sizeof *own);
    current = own;
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    *own = 2;
    current = NULL;
    pthread_mutex_unlock(&lock);
    int status = pthread_join(worker, NULL);
    free(own);
    return status;
}
