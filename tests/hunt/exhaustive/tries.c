/* Both try to lock; the holder keeps it for good: one of them gets it.
 * behaviours: 2 */
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *try(void *argument)
{
    return pthread_mutex_trylock(&lock) ? argument : &lock;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, try, NULL);
    pthread_create(&second, NULL, try, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
