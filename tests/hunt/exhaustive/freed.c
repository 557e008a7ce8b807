/* One thread frees what another one may use later, each under the lock: no race, and nothing that a read sees tells
 * the orders apart.
 * behaviours: 1, use of freed memory */
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *number;
static void *use(void *argument)
{
    pthread_mutex_lock(&lock);
    *number += 1;
    pthread_mutex_unlock(&lock);
    return argument;
}
static void *end(void *argument)
{
    pthread_mutex_lock(&lock);
    free(number);
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void)
{
    pthread_t first, second;
    number = calloc(1, sizeof *number);
    pthread_create(&first, NULL, use, NULL);
    pthread_create(&second, NULL, end, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
