/* The receiver does not look before it sleeps: a signal that came before is lost.
 * behaviours: 2, deadlock */
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static void *send(void *argument)
{
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void)
{
    pthread_t sender;
    pthread_create(&sender, NULL, send, NULL);
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&arrived, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(sender, NULL);
    return 0;
}
