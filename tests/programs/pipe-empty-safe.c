/* Who finds the pipes empty, and still open, writes to shared; who closes them does so after that. Each time by another call. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], shared[2];

static bool is_empty(int how)
{
    char byte;
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    return how == 0 ? read(ends[0], &byte, 1) < 0 && errno == EAGAIN : poll(&one, 1, 0) == 0;
}

static void *looks(void *how)
{
    int which = how != NULL;
    pthread_mutex_lock(&mutex);
    if (is_empty(which))
        shared[which] = 1;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    for (int which = 0; which < 2; which++) {
        pthread_t looker;
        if (pipe2(ends, O_NONBLOCK) != 0)
            return 1;
        pthread_create(&looker, NULL, looks, which ? ends : NULL);
        usleep(1000);
        pthread_mutex_lock(&mutex);
        close(ends[1]);
        pthread_mutex_unlock(&mutex);
        shared[which] = 2;
        pthread_join(looker, NULL);
        close(ends[0]);
    }
    return 0;
}
