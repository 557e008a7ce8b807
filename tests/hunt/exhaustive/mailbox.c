/* A condition variable: the receiver finds the letter, or sleeps and is woken. In the second case it
 * reads `full` twice.
 * behaviours: 2 */
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int full, letter;
static void *send(void *argument)
{
    pthread_mutex_lock(&lock);
    letter = 7;
    full = 1;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void)
{
    pthread_t sender;
    pthread_create(&sender, NULL, send, NULL);
    pthread_mutex_lock(&lock);
    while (!full)
        pthread_cond_wait(&arrived, &lock);
    int got = letter;
    pthread_mutex_unlock(&lock);
    pthread_join(sender, NULL);
    return got != 7;
}
