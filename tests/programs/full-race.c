/* A race: who finds no room in a pipe writes to memory, in a section of `lock`; the other thread writes before its section. Predicted
 * from every order. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

enum { ROOM = 4096 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], of_poll;
static char block[ROOM];

static void *put(void *unused)
{
    struct pollfd one = {.fd = ends[1], .events = POLLOUT};
    pthread_mutex_lock(&lock);
    if (poll(&one, 1, 0) == 0)
        of_poll = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *take(void *unused)
{
    char room[ROOM];
    of_poll = 2;
    usleep(1000);
    pthread_mutex_lock(&lock);
    while (read(ends[0], room, ROOM) > 0)
        ;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pipe2(ends, O_NONBLOCK);
    while (write(ends[1], block, ROOM) > 0)
        ;
    pthread_create(&first, NULL, put, NULL);
    pthread_create(&second, NULL, take, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
