/* An update may be lost, and then the last thread looks again and again for ever. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *add(void *unused)
{
    int seen = count;
    count = seen + 1;
    return unused;
}

static int looked(void)
{
    pthread_mutex_lock(&lock);
    int seen = count;
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *wait_for_both(void *unused)
{
    while (looked() != 2)
        continue;
    return unused;
}

int main(void)
{
    pthread_t one, two, three;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_create(&three, NULL, wait_for_both, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    pthread_join(three, NULL);
    return 0;
}
