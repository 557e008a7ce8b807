/* No race: a read that was asked for ahead (aio_read) gets what another thread writes to the pipe later, and what is asked to be
 * written (aio_write) is read by another thread. Who is told that the read has ended comes after the write: by aio_return, aio_error, or a
 * function in a thread of its own (SIGEV_THREAD). */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int x, ends[2];
static sem_t done;
static char byte;

static void *send(void *unused)
{
    x++;
    return write(ends[1], "a", 1) == 1 ? unused : NULL;
}

static void *receive(void *unused)
{
    char other;
    if (read(ends[0], &other, 1) == 1) {
        x++;
    }
    return unused;
}

static void end(union sigval unused)
{
    (void)unused;
    x++;
    sem_post(&done);
}

static void await(const struct aiocb *block)
{
    while (aio_suspend(&block, 1, NULL) != 0 && errno == EINTR) {
    }
}

static pthread_t start(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) != 0) {
        abort();
    }
    return thread;
}

int main(void)
{
    static struct aiocb in = {.aio_buf = &byte, .aio_nbytes = 1},
                        out = {.aio_buf = "b", .aio_nbytes = 1};
    sem_init(&done, 0, 0);
    if (pipe(ends) != 0) {
        return 1;
    }
    in.aio_fildes = ends[0];
    out.aio_fildes = ends[1];
    in.aio_sigevent.sigev_notify = out.aio_sigevent.sigev_notify = SIGEV_NONE;

    if (aio_read(&in) != 0) {
        return 1;
    }
    pthread_t thread = start(send);
    await(&in);
    if (aio_return(&in) != 1) {
        abort();
    }
    x++;
    pthread_join(thread, NULL);

    if (aio_read(&in) != 0) {
        return 1;
    }
    thread = start(send);
    await(&in);
    if (aio_error(&in) != 0) {
        abort();
    }
    x++;
    pthread_join(thread, NULL);

    in.aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = end};
    if (aio_read(&in) != 0) {
        return 1;
    }
    thread = start(send);
    while (sem_wait(&done) != 0) {
    }
    pthread_join(thread, NULL);

    thread = start(receive);
    x++;
    if (aio_write(&out) != 0) {
        return 1;
    }
    pthread_join(thread, NULL);
    return 0;
}
