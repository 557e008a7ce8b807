/* Waits for a value right after it has written another variable: the first look at the value is as the later
 * ones, so how long it waits makes no difference.
 * behaviours: 1, races: 1 */
#include <pthread.h>
static volatile int begun, go;
static void *waiter(void *argument)
{
    begun = 1;
    while (go == 0) {
    }
    return argument;
}
static void *starter(void *argument)
{
    go = 1;
    return argument;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, waiter, NULL);
    pthread_create(&second, NULL, starter, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
