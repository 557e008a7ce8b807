/* Observed: a mutex is destroyed while it is held. Predicted from every order. */
#include <pthread.h>

int main(void)
{
    pthread_mutex_t lock;
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_lock(&lock);
    pthread_mutex_destroy(&lock);
    pthread_mutex_unlock(&lock);
    return 0;
}
