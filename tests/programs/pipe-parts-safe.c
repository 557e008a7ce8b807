/* No race: written before, where the bytes go in parts and with flags. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2];
static int x;

static void *one(void *unused)
{
    char first = 'a', second = 'b';
    const struct iovec parts[] = {{&first, 1}, {&second, 1}};
    x = 1;
    if (pwritev2(ends[1], parts, 2, -1, 0) != 2) {
        return NULL;
    }
    return unused;
}

static void *two(void *unused)
{
    char first, second;
    const struct iovec parts[] = {{&first, 1}, {&second, 1}};
    if (preadv2(ends[0], parts, 2, -1, 0) == 2) {
        x++;
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
