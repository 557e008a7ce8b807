/* Two threads and pthread_once: one of them initialises.
 * behaviours: 2 */
#include <pthread.h>
static pthread_once_t control = PTHREAD_ONCE_INIT;
static int value;
static void make(void)
{
    value = 5;
}
static void *use(void *argument)
{
    pthread_once(&control, make);
    return value == 5 ? argument : NULL;
}
int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, use, NULL);
    pthread_create(&second, NULL, use, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return value != 5;
}
