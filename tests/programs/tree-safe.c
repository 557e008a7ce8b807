/* No race: keys are written before they are put into a tree of libc. The root stays the same while the tree grows, but what a search
 * comes to depends on which keys are in. */
#include <pthread.h>
#include <search.h>

enum { KEYS = 6 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void *root;
static int keys[KEYS];

static int compare(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

static void *work(void *unused)
{
    for (int i = 0; i < KEYS; i++) {
        keys[i] = i * 7 % KEYS;
        pthread_rwlock_wrlock(&lock);
        tsearch(&keys[i], &root, compare);
        pthread_rwlock_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t other;
    int wanted = 3;
    pthread_create(&other, NULL, work, NULL);
    for (int i = 0; i < KEYS; i++) {
        pthread_rwlock_rdlock(&lock);
        tfind(&wanted, &root, compare);
        pthread_rwlock_unlock(&lock);
    }
    return pthread_join(other, NULL);
}
