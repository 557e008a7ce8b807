/* No race: an atomic read. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int count;
static int seen;

static void *one(void *unused)
{
    for (int i = 0; i < 3; i++) {
        atomic_fetch_add(&count, 1);
    }
    return unused;
}

static void *two(void *unused)
{
    seen = atomic_load(&count);
    atomic_fetch_or(&count, 64);
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
