/* No race: who finds nothing to read writes, in a section of `lock`. The other thread fills the channels in its own section, and
 * writes after that. Were its section first, there would be something to read. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[5][2], counter, set;
static mqd_t queue;
static int of_read, of_receive, of_counter, of_poll, of_select, of_epoll, of_queue;

static void *look(void *unused)
{
    char byte;
    eventfd_t value;
    struct epoll_event event;
    struct pollfd one = {.fd = ends[2][0], .events = POLLIN};
    struct timeval now = {0};
    fd_set reads;
    FD_ZERO(&reads);
    FD_SET(ends[3][0], &reads);
    pthread_mutex_lock(&lock);
    if (read(ends[0][0], &byte, 1) < 0)
        of_read = 1;
    if (recv(ends[1][0], &byte, 1, MSG_DONTWAIT) < 0)
        of_receive = 1;
    if (poll(&one, 1, 0) == 0)
        of_poll = 1;
    if (select(ends[3][0] + 1, &reads, NULL, NULL, &now) == 0)
        of_select = 1;
    if (epoll_wait(set, &event, 1, 0) == 0)
        of_epoll = 1;
    if (eventfd_read(counter, &value) < 0)
        of_counter = 1;
    if (mq_receive(queue, &byte, 1, NULL) < 0)
        of_queue = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *fill(void *unused)
{
    usleep(1000);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 5; i++)
        write(ends[i][1], &"abcde"[i], 1);
    eventfd_write(counter, 1);
    mq_send(queue, "f", 1, 0);
    pthread_mutex_unlock(&lock);
    of_read = of_receive = of_counter = of_poll = of_select = of_epoll = of_queue = 2;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    for (int i = 0; i < 5; i++)
        if (i == 1)
            socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]);
        else
            pipe2(ends[i], O_NONBLOCK);
    counter = eventfd(0, EFD_NONBLOCK);
    set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, ends[4][0], &(struct epoll_event){.events = EPOLLIN});
    queue = mq_open("/maxrace-empty-safe", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attributes);
    mq_unlink("/maxrace-empty-safe");
    pthread_create(&first, NULL, look, NULL);
    pthread_create(&second, NULL, fill, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
