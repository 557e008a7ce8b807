/* Blocks whose size is changed under a lock. The small one moves. The large one stays where it is: its pointer has the same
 * value before and after, so who reads it, under the lock, uses the block that is there. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *small, *large;

static void *look(void *unused)
{
    pthread_mutex_lock(&lock);
    void *wrong = small[0] != 1 || large[0] != 1 ? &lock : unused;
    pthread_mutex_unlock(&lock);
    return wrong;
}

static void *change(void *unused)
{
    pthread_mutex_lock(&lock);
    small = realloc(small, 183);
    large = realloc(large, 20000);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    void *wrong[3];
    small = calloc(1, 181);
    large = calloc(1, 40000);
    small[0] = large[0] = 1;
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, change, NULL);
    pthread_create(&threads[2], NULL, look, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], &wrong[i]);
    return wrong[0] == NULL && wrong[2] == NULL ? 0 : 1;
}
