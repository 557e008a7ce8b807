/* No race: under a lock. */
#include <pthread.h>

typedef struct pair {
    long first, second;
} pair;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pair shared, source = {1, 2};

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    shared = source;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *two(void *unused)
{
    pthread_mutex_lock(&lock);
    shared.second = 3;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
