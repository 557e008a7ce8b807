/* Race on x: both write with the lock taken for reading. Predicted from every order. */
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int x, seen;

static void *one(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    x++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *two(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    seen = x;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_tryrdlock(&lock);
    x++;
    pthread_rwlock_unlock(&lock);
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
