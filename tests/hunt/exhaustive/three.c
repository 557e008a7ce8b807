/* Three atomic increments by three threads: the orders of three threads.
 * behaviours: 6 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int counter;
static void *add(void *argument)
{
    atomic_fetch_add(&counter, 1);
    return argument;
}
int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return counter != 3;
}
