/* Built with -fsanitize=undefined: a sum is too large when it is made before the difference. */
#include <limits.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count = INT_MAX - 1;

static void *take(void *unused)
{
    pthread_mutex_lock(&lock);
    count -= 5;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *give(void *unused)
{
    pthread_mutex_lock(&lock);
    count += 3;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t taker, giver;
    pthread_create(&taker, NULL, take, NULL);
    pthread_create(&giver, NULL, give, NULL);
    pthread_join(taker, NULL);
    pthread_join(giver, NULL);
    return 0;
}
