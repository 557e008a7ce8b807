/* No race: who receives a message from a queue comes after who sent it. Several receivers keep their order. The limit of a
 * receive is a time of the program's clocks, which a sleep advances: when it is over, there is no wait for a message. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 8 };
static mqd_t queue;
static int x, y[2];

static void *receive(void *unused)
{
    char message[ROOM];
    unsigned priority;
    if (mq_receive(queue, message, ROOM, &priority) != 1 || priority != 1) {
        _exit(1);
    }
    y[message[0] - '0']++;
    return unused;
}

/* A receive whose limit is over. With the kernel's clock it would wait for a minute and a half. */
static void receive_late(void)
{
    char message[ROOM];
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 90;
    sleep(100);
    if (mq_timedreceive(queue, message, ROOM, NULL, &limit) != -1 || errno != ETIMEDOUT) {
        abort();
    }
    limit.tv_sec += 3600;
    if (mq_timedsend(queue, "a", 1, 0, &limit) != 0 ||
        mq_timedreceive(queue, message, ROOM, NULL, &limit) != 1) {
        abort();
    }
}

int main(void)
{
    struct mq_attr room = {.mq_maxmsg = 2, .mq_msgsize = ROOM};
    char name[ROOM + 32];
    pthread_t threads[2];
    snprintf(name, sizeof name, "/maxrace-queue-safe-%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &room);
    if (queue == (mqd_t)-1) {
        abort();
    }
    mq_unlink(name);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, receive, NULL);
    }
    for (int i = 0; i < 2; i++) {
        y[i] = ++x;
        char message = (char)('0' + i);
        mq_send(queue, &message, 1, 1);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    receive_late();
    return mq_close(queue);
}
