/* Race on data: memcmp reads up to the first byte that differs, so it reads more when the other thread has not written yet. */
#include <pthread.h>
#include <string.h>

static char data[16];
static int result;

static void *one(void *unused)
{
    data[0] = 1;
    return unused;
}

static void *two(void *unused)
{
    static const char zeros[16];
    result = memcmp(data, zeros, sizeof data);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return result == 2;
}
