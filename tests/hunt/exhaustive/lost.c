/* Two threads add to a counter without a lock. The reads see (0, 0), (0, 1) or (1, 0); in the first case
 * the assertion fails.
 * behaviours: 3, races: 2, failure */
#include <assert.h>
#include <pthread.h>
static int counter;
static void *add(void *argument)
{
    counter++;
    return argument;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(counter == 2);
    return 0;
}
