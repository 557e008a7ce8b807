/* Race on x: the thread writes after it has asked for a function at the end of the program, which writes, too. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int x;

static void at_end(void)
{
    x++;
}

static void *work(void *unused)
{
    atexit(at_end);
    x = 1;
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
