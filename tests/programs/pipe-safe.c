/* No race: written before. */
#include <pthread.h>
#include <unistd.h>

static int ends[2];
static int x;

static void *one(void *unused)
{
    x = 1;
    if (write(ends[1], "a", 1) != 1) {
        return NULL;
    }
    return unused;
}

static void *two(void *unused)
{
    char byte;
    if (read(ends[0], &byte, 1) == 1) {
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
