/* Race on x: written after the message was sent. Predicted from every order. */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { ROOM = 8 };
static mqd_t queue;
static int x;

static void *receive(void *unused)
{
    char message[ROOM];
    if (mq_receive(queue, message, ROOM, NULL) == 1) {
        x++;
    }
    return unused;
}

int main(void)
{
    struct mq_attr room = {.mq_maxmsg = 2, .mq_msgsize = ROOM};
    char name[ROOM + 32];
    pthread_t thread;
    snprintf(name, sizeof name, "/maxrace-queue-race-%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &room);
    mq_unlink(name);
    if (queue == (mqd_t)-1 || pthread_create(&thread, NULL, receive, NULL) != 0 ||
        mq_send(queue, "a", 1, 0) != 0) {
        return 1;
    }
    x = 1;
    pthread_join(thread, NULL);
    return mq_close(queue);
}
