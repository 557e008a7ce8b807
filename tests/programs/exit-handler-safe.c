/* No race: who asks for a function at the end of the program comes before its call. */
#define _GNU_SOURCE /* on_exit */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int x, y, z;

static void at_end(void)
{
    x++;
}

static void at_end_too(int status, void *to)
{
    *(int *)to += status;
}

static void *work(void *unused)
{
    x = 1;
    z = 1;
    atexit(at_end);
    on_exit(at_end_too, &z);
    y = 1; /* nothing at the end looks at that */
    for (;;) {
        pause();
    }
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    usleep(1000);
    return 0;
}
