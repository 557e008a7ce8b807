/* No race: in words of their own. */
#include <pthread.h>

static struct {
    unsigned first : 3;
    unsigned : 0;
    unsigned second : 5;
} flags;

static void *one(void *unused)
{
    flags.first = 1;
    return unused;
}

static void *two(void *unused)
{
    flags.second = 2;
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
