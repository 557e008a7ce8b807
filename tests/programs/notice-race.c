/* Race on x: the function that the end of a read calls in a thread of its own (SIGEV_THREAD) changes it after it has handed
 * over. Predicted from every order. */
#include <aio.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

enum { ROOM = 8 };
static sem_t done, ended;
static int x;

static void end(union sigval value)
{
    sem_post(&done);
    x = value.sival_int;
    sem_post(&ended);
}

int main(void)
{
    static char bytes[ROOM];
    static struct aiocb block = {.aio_buf = bytes,
                                 .aio_nbytes = ROOM,
                                 .aio_sigevent = {.sigev_notify = SIGEV_THREAD,
                                                  .sigev_notify_function = end,
                                                  .sigev_value.sival_int = 7}};
    sem_init(&done, 0, 0);
    sem_init(&ended, 0, 0);
    block.aio_fildes = open("/dev/zero", O_RDONLY);
    if (aio_read(&block) != 0) {
        return 1;
    }
    sem_wait(&done);
    x++;
    sem_wait(&ended);
    return close(block.aio_fildes);
}
