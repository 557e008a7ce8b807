/* Race on stop. Who writes to the pipe sees first that the other end is open. In the recorded order the pipe was found empty before
 * that; in a witness it is found empty between that look and the write. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];
static volatile int stop;

static void *writes(void *unused)
{
    for (int i = 0; i < 3; i++)
        if (write(ends[1], &"abcd"[i], 2) != 2)
            perror("write");
    close(ends[1]);
    return unused;
}

static void *looks(void *unused)
{
    while (!stop)
        sched_yield();
    return unused;
}

int main(void)
{
    pthread_t writer, looker;
    char bytes[2];
    long got = -1;
    if (pipe2(ends, O_NONBLOCK) != 0)
        return 1;
    pthread_create(&writer, NULL, writes, NULL);
    pthread_create(&looker, NULL, looks, NULL);
    while (got != 0) {
        sched_yield();
        got = read(ends[0], bytes, sizeof bytes);
    }
    close(ends[0]);
    stop = 1;
    pthread_join(writer, NULL);
    pthread_join(looker, NULL);
    return 0;
}
