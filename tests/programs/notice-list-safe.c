/* No race: the end of a list of reads, the end of one read of a list, and the end of a look-up of names call a function in a thread of
 * its own (SIGEV_THREAD). What is written before the call comes before the functions, which hand over by a semaphore. A
 * list that is refused calls none. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROOM = 8, READS = 2, NO_MODE = 99 };
static sem_t done;
static int step;
static int sum;

static void end(union sigval value)
{
    sum += value.sival_int + step;
    sem_post(&done);
}

static struct sigevent calls(int number)
{
    return (struct sigevent){.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = end,
                             .sigev_value.sival_int = number};
}

static void await(void)
{
    while (sem_wait(&done) != 0) {
    }
}

static int by_list(void)
{
    static char bytes[READS][ROOM];
    static struct aiocb blocks[READS], nothing = {.aio_lio_opcode = LIO_NOP};
    struct aiocb *list[READS + 2] = {[READS] = &nothing};
    struct sigevent all = calls(100);
    int fd = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < READS; i++) {
        blocks[i] = (struct aiocb){.aio_fildes = fd,
                                   .aio_buf = bytes[i],
                                   .aio_nbytes = ROOM,
                                   .aio_lio_opcode = LIO_READ,
                                   .aio_sigevent.sigev_notify = SIGEV_NONE};
        list[i] = &blocks[i];
    }
    blocks[0].aio_sigevent = calls(10);
    if (lio_listio(NO_MODE, list, READS + 2, &all) == 0 || errno != EINVAL) {
        return 1;
    }
    step = 1;
    if (lio_listio(LIO_NOWAIT, list, READS + 2, NULL) != 0) {
        return 1;
    }
    await();
    step = 2;
    blocks[0].aio_sigevent.sigev_notify = SIGEV_NONE;
    if (lio_listio(LIO_NOWAIT, list, READS + 2, &all) != 0) {
        return 1;
    }
    await();
    if (lio_listio(LIO_WAIT, list, READS + 2, &all) != 0) {
        return 1;
    }
    return sum == 11 + 102 ? close(fd) : 1;
}

static int by_names(void)
{
    static const struct addrinfo number = {.ai_flags = AI_NUMERICHOST};
    static struct gaicb request = {.ar_name = "127.0.0.1", .ar_request = &number};
    struct gaicb *list[] = {&request};
    struct sigevent all = calls(1000);
    sum = 0;
    step = 3;
    if (getaddrinfo_a(GAI_NOWAIT, list, 1, &all) != 0) {
        return 1;
    }
    await();
    return sum == 1003 && gai_error(&request) == 0 ? 0 : 1;
}

int main(void)
{
    sem_init(&done, 0, 0);
    if (by_list() != 0 || by_names() != 0) {
        abort();
    }
    return 0;
}
