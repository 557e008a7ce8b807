/* The worker tests the pointer that it has read. */
#include <pthread.h>
#include <stdlib.h>

typedef struct settings {
    int level;
} settings;

static settings *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    settings *own = current;
    if (own != NULL) {
        own->level++;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t worker;
    settings *own = calloc(1, sizeof *own);
    current = own;
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    own->level = 2;
    current = NULL;
    pthread_mutex_unlock(&lock);
    int status = pthread_join(worker, NULL);
    free(own);
    return status;
}
