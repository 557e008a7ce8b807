/* Threads that each open the same file, so that locks of what is opened exclude them. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum { ROUNDS = 3, THREADS = 3 };

static int counter;
static char path[32];

static void need(int is_true)
{
    if (!is_true) {
        exit(1);
    }
}

static int open_again(void)
{
    int fd = open(path, O_RDWR);
    need(fd >= 0);
    return fd;
}

static int run(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    FILE *file = tmpfile();
    need(file != NULL);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    need(counter > 0);
    return 0;
}
