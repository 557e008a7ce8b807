/* No race: a block is freed and given out again at its address, and the pointer to it is read anew, as is one that realloc leaves
 * where it is. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 400000 }; /* given out again at once */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *old, *new;

static int use(void)
{
    return *new;
}

static void *make(void *unused)
{
    pthread_mutex_lock(&lock);
    if (!old)
        old = malloc(BYTES);
    *old = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *replace(void *unused)
{
    usleep(1000);
    pthread_mutex_lock(&lock);
    if (!old)
        old = malloc(BYTES);
    old = realloc(old, BYTES / 2);
    *old = 1;
    free(old);
    old = NULL;
    new = malloc(BYTES);
    *new = 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, make, NULL);
    pthread_create(&second, NULL, replace, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return use() == 3;
}
