/* Race on x: who wrote to the pipe changes it after that, and who has got the byte by aio_read changes it, too. Predicted from
 * every order. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static int x, ends[2];

static void *send(void *unused)
{
    if (write(ends[1], "a", 1) == 1) {
        x++;
    }
    return unused;
}

int main(void)
{
    static char byte;
    static struct aiocb in = {
        .aio_buf = &byte, .aio_nbytes = 1, .aio_sigevent.sigev_notify = SIGEV_NONE};
    const struct aiocb *list[] = {&in};
    pthread_t thread;
    if (pipe(ends) != 0) {
        return 1;
    }
    in.aio_fildes = ends[0];
    if (aio_read(&in) != 0) {
        return 1;
    }
    pthread_create(&thread, NULL, send, NULL);
    while (aio_suspend(list, 1, NULL) != 0 && errno == EINTR) {
    }
    if (aio_return(&in) == 1) {
        x++;
    }
    pthread_join(thread, NULL);
    return 0;
}
