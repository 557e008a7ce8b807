/* Two locks in two orders: both threads end, or each waits for the other. Nothing is read.
 * behaviours: 2, deadlock */
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *ab(void *argument)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return argument;
}
static void *ba(void *argument)
{
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return argument;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, ab, NULL);
    pthread_create(&second, NULL, ba, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
