/* A barrier of three: one of them is the last, and is told so.
 * behaviours: 3 */
#include <pthread.h>
static pthread_barrier_t gate;
static void *come(void *argument)
{
    return pthread_barrier_wait(&gate) ? &gate : argument;
}
int main(void)
{
    pthread_t threads[3];
    pthread_barrier_init(&gate, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, come, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
