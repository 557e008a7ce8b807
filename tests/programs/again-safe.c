/* No race: a table is replaced under a lock, again and again, and who reads it holds the lock. The new table often lies
 * where an older one was, so the pointer has the same value before and after. */
#include <pthread.h>
#include <stdlib.h>

enum { LARGE = 1 << 20, SMALL = 40, BLOCKS = 300 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *large, *small;

static void replace(int **table, size_t bytes, int value)
{
    free(*table);
    *table = malloc(bytes);
    **table = value;
}

static void *change(void *unused)
{
    for (int i = 1; i < BLOCKS; i++) {
        pthread_mutex_lock(&lock);
        if (i % 100 == 0)
            replace(&large, LARGE, i);
        replace(&small, SMALL, i);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *look(void *unused)
{
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        sum += *large + *small;
        pthread_mutex_unlock(&lock);
    }
    return sum >= 0 ? unused : &lock;
}

int main(void)
{
    pthread_t threads[2];
    void *wrong;
    replace(&large, LARGE, 0);
    replace(&small, SMALL, 0);
    pthread_create(&threads[0], NULL, change, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], &wrong);
    free(large);
    free(small);
    return wrong == NULL ? 0 : 1;
}
