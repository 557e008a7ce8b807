/* No race: close_range refuses a flag that it does not know, and closes nothing; a pipe goes on handing over. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static int ends[2], x;

static void *reader(void *unused)
{
    char byte;
    if (read(ends[0], &byte, 1) == 1) {
        x++;
    }
    return unused;
}

static void *closer(void *unused)
{
    static int unknown = 1 << 20;
    return close_range(0, ~0u, unknown) == 0 ? &ends : unused;
}

int main(void)
{
    pthread_t one, two;
    void *closed;
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&one, NULL, reader, NULL);
    pthread_create(&two, NULL, closer, NULL);
    x = 1;
    if (write(ends[1], "x", 1) != 1) {
        return 1;
    }
    pthread_join(two, &closed);
    pthread_join(one, NULL);
    return closed == NULL && x == 2 ? 0 : 1;
}
