/* The reader reads under the lock, too. */
#include <pthread.h>
#include <stdlib.h>

static int *buffer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *read_it(void *unused)
{
    pthread_mutex_lock(&lock);
    int value = *buffer;
    pthread_mutex_unlock(&lock);
    return value == 1 ? unused : &buffer;
}

int main(void)
{
    pthread_t reader;
    buffer = malloc(16);
    *buffer = 1;
    pthread_create(&reader, NULL, read_it, NULL);
    pthread_mutex_lock(&lock);
    int *longer = realloc(buffer, 4096);
    if (longer != NULL)
        buffer = longer;
    pthread_mutex_unlock(&lock);
    pthread_join(reader, NULL);
    free(buffer);
    return 0;
}
