/* No race: a message, and the end of a read, call a function in a thread of its own (SIGEV_THREAD). What is written before the
 * call that asks for it comes before, and so does what is written before the message. The functions hand over by a semaphore. */
#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROOM = 8, READS = 3 };
static sem_t done;
static int step, sum, sent;

static void arrive(union sigval value)
{
    sum += *(const int *)value.sival_ptr + sent;
    sem_post(&done);
}

static void end(union sigval value)
{
    sum += *(const int *)value.sival_ptr;
    sem_post(&done);
}

static int by_queue(void)
{
    struct mq_attr room = {.mq_maxmsg = 2, .mq_msgsize = ROOM};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = arrive,
                             .sigev_value.sival_ptr = &step};
    char name[ROOM + 32], message[ROOM];
    snprintf(name, sizeof name, "/maxrace-notice-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &room);
    mq_unlink(name);
    if (queue == (mqd_t)-1 || mq_notify(queue, &event) != 0 || mq_notify(queue, NULL) != 0) {
        return 1;
    }
    step = 7;
    if (mq_notify(queue, &event) != 0) {
        return 1;
    }
    sent = 1;
    mq_send(queue, "a", 1, 0);
    sem_wait(&done);
    return mq_receive(queue, message, ROOM, NULL) == 1 && sum == 8 ? mq_close(queue) : 1;
}

/* The function runs when the queue is closed. */
static int by_close(void)
{
    struct mq_attr room = {.mq_maxmsg = 2, .mq_msgsize = ROOM};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = arrive,
                             .sigev_value.sival_ptr = &step};
    char name[ROOM + 32];
    snprintf(name, sizeof name, "/maxrace-close-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &room);
    mq_unlink(name);
    sum = 0;
    if (queue == (mqd_t)-1 || mq_notify(queue, &event) != 0) {
        return 1;
    }
    sent = 2;
    if (mq_send(queue, "a", 1, 0) != 0 || mq_close(queue) != 0) {
        return 1;
    }
    sem_wait(&done);
    return sum == 9 ? 0 : 1;
}

static int by_read(void)
{
    static char bytes[ROOM];
    static struct aiocb block = {.aio_buf = bytes, .aio_nbytes = ROOM};
    block.aio_fildes = open("/dev/zero", O_RDONLY);
    block.aio_sigevent = (struct sigevent){
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = end, .sigev_value.sival_ptr = &step};
    for (int i = 0; i < READS; i++) {
        step = i;
        if (aio_read(&block) != 0) {
            return 1;
        }
        sem_wait(&done);
        if (aio_return(&block) != ROOM) {
            return 1;
        }
    }
    return sum == 9 + 0 + 1 + 2 ? close(block.aio_fildes) : 1;
}

int main(void)
{
    sem_init(&done, 0, 0);
    if (by_queue() != 0 || by_close() != 0 || by_read() != 0) {
        abort();
    }
    return 0;
}
