/* No race: the function that the end of a list of reads calls in a thread of its own (SIGEV_THREAD) comes after who wrote to the pipe,
 * after who wrote to the socket, and after who closed the other pipe. */
#define _GNU_SOURCE
#include <aio.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIPE, SOCKET, CLOSED, READS };
static int ends[READS][2], x[READS];
static sem_t done;

static void *act(void *of)
{
    int which = (int)((int(*)[2])of - ends);
    x[which]++;
    if (which == CLOSED) {
        close(ends[which][1]);
    } else if (write(ends[which][1], "a", 1) != 1) {
        abort();
    }
    return NULL;
}

static void end(union sigval unused)
{
    (void)unused;
    for (int i = 0; i < READS; i++) {
        x[i]++;
    }
    sem_post(&done);
}

/* Two sockets, one connected to the other, which is not a socketpair. */
static int make_sockets(int pair[2])
{
    struct sockaddr_storage at = {.ss_family = AF_UNIX};
    socklen_t bytes = sizeof at;
    pair[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
    pair[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
    return bind(pair[0], (struct sockaddr *)&at, sizeof at.ss_family) == 0 &&
                   getsockname(pair[0], (struct sockaddr *)&at, &bytes) == 0
               ? connect(pair[1], (struct sockaddr *)&at, bytes)
               : -1;
}

int main(void)
{
    static char bytes[READS];
    static struct aiocb blocks[READS];
    struct aiocb *list[READS];
    struct sigevent all = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = end};
    pthread_t threads[READS];
    sem_init(&done, 0, 0);
    if (pipe(ends[PIPE]) != 0 || make_sockets(ends[SOCKET]) != 0 || pipe(ends[CLOSED]) != 0) {
        return 1;
    }
    for (int i = 0; i < READS; i++) {
        blocks[i] = (struct aiocb){.aio_fildes = ends[i][0],
                                   .aio_buf = &bytes[i],
                                   .aio_nbytes = 1,
                                   .aio_lio_opcode = LIO_READ,
                                   .aio_sigevent.sigev_notify = SIGEV_NONE};
        list[i] = &blocks[i];
    }
    if (lio_listio(LIO_NOWAIT, list, READS, &all) != 0) {
        return 1;
    }
    for (int i = 0; i < READS; i++) {
        pthread_create(&threads[i], NULL, act, ends[i]);
    }
    while (sem_wait(&done) != 0) {
    }
    for (int i = 0; i < READS; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
