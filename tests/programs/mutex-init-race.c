/* Race on lock: one thread initialises it, another uses it, in no order. Predicted from every order. */
#include <pthread.h>

static pthread_mutex_t lock;

static void *initialise(void *unused)
{
    pthread_mutex_init(&lock, NULL);
    return unused;
}

static void *use(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, initialise, NULL);
    pthread_create(&second, NULL, use, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
