/* No race: it reads only when it got the lock. */
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int x, seen;

static void *one(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    x++;
    x++;
    x++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *two(void *unused)
{
    int status = pthread_rwlock_tryrdlock(&lock);
    if (status == 0) {
        seen = x;
        pthread_rwlock_unlock(&lock);
    }
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
