/* Who leaves does not hold the lock, so the count of users may become 0 while one of them is inside: four switches in the right places. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int users, replaced;

static void *use(void *unused)
{
    pthread_mutex_lock(&lock);
    users++;
    pthread_mutex_unlock(&lock);
    int before = atomic_load(&replaced);
    int after = atomic_load(&replaced);
    assert(before == after);
    int left = atomic_load(&users) - 1;
    atomic_store(&users, left);
    return unused;
}

static void *replace(void *unused)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&users) == 0)
        atomic_store(&replaced, 1);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t one, two, three;
    pthread_create(&one, NULL, use, NULL);
    pthread_create(&two, NULL, use, NULL);
    pthread_create(&three, NULL, replace, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    pthread_join(three, NULL);
    return 0;
}
