/* Use after free: a table is replaced under a lock, and lies where the one before was. Who reads it takes the pointer
 * under the lock and uses it without. Predicted from every order. */
#include <pthread.h>
#include <stdlib.h>

enum { LARGE = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *table;

static void *change(void *unused)
{
    pthread_mutex_lock(&lock);
    free(table);
    table = calloc(1, LARGE);
    *table = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *look(void *unused)
{
    pthread_mutex_lock(&lock);
    int *mine = table;
    pthread_mutex_unlock(&lock);
    return *mine >= 0 ? unused : &lock;
}

int main(void)
{
    pthread_t threads[2];
    void *wrong;
    table = calloc(1, LARGE);
    *table = 2;
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, change, NULL);
    pthread_join(threads[0], &wrong);
    pthread_join(threads[1], NULL);
    free(table);
    return wrong == NULL ? 0 : 1;
}
