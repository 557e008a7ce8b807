/* No race: who finds no room to write into writes to memory, in a section of a lock. The other thread makes room in its own section,
 * and writes after that. Were its section first, there would be room. Each way has a lock, so that none hides another one.
 * Who waits for room comes after who makes it. */
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

enum { ROOM = 4096, ENDS = 6, COUNTER = 5, QUEUE = 6, WAYS = 7 };
static pthread_mutex_t locks[WAYS];
static int ends[ENDS][2], counter, set;
static mqd_t queue;
static char block[ROOM];
static int of_write, of_send, of_poll, of_select, of_epoll, of_counter, of_queue, by_room;

static void *put(void *unused)
{
    struct epoll_event event;
    struct pollfd one = {.fd = ends[2][1], .events = POLLOUT};
    struct timeval now = {0};
    fd_set writes;
    FD_ZERO(&writes);
    FD_SET(ends[3][1], &writes);
    pthread_mutex_lock(&locks[0]);
    if (write(ends[0][1], block, ROOM) < 0)
        of_write = 1;
    pthread_mutex_unlock(&locks[0]);
    pthread_mutex_lock(&locks[1]);
    if (send(ends[1][1], block, ROOM, MSG_DONTWAIT) < 0)
        of_send = 1;
    pthread_mutex_unlock(&locks[1]);
    pthread_mutex_lock(&locks[2]);
    if (poll(&one, 1, 0) == 0)
        of_poll = 1;
    pthread_mutex_unlock(&locks[2]);
    pthread_mutex_lock(&locks[3]);
    if (select(ends[3][1] + 1, NULL, &writes, NULL, &now) == 0)
        of_select = 1;
    pthread_mutex_unlock(&locks[3]);
    pthread_mutex_lock(&locks[4]);
    if (epoll_wait(set, &event, 1, 0) == 0)
        of_epoll = 1;
    pthread_mutex_unlock(&locks[4]);
    pthread_mutex_lock(&locks[COUNTER]);
    if (eventfd_write(counter, 1) < 0)
        of_counter = 1;
    pthread_mutex_unlock(&locks[COUNTER]);
    pthread_mutex_lock(&locks[QUEUE]);
    if (mq_send(queue, "b", 1, 0) < 0)
        of_queue = 1;
    pthread_mutex_unlock(&locks[QUEUE]);
    write(ends[5][1], block, ROOM);
    by_room = 2;
    return unused;
}

static void *take(void *unused)
{
    char byte, room[ROOM];
    eventfd_t value;
    int *const of_ends[] = {&of_write, &of_send, &of_poll, &of_select, &of_epoll};
    usleep(1000);
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&locks[i]);
        while (read(ends[i][0], room, ROOM) > 0)
            ;
        pthread_mutex_unlock(&locks[i]);
        *of_ends[i] = 2;
    }
    pthread_mutex_lock(&locks[COUNTER]);
    eventfd_read(counter, &value);
    pthread_mutex_unlock(&locks[COUNTER]);
    of_counter = 2;
    pthread_mutex_lock(&locks[QUEUE]);
    mq_receive(queue, &byte, 1, NULL);
    pthread_mutex_unlock(&locks[QUEUE]);
    of_queue = 2;
    by_room = 1;
    read(ends[5][0], room, ROOM);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    for (int i = 0; i < WAYS; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (int i = 0; i < ENDS; i++) {
        if (i == 1)
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends[i]);
        else
            pipe2(ends[i], O_NONBLOCK);
        while (write(ends[i][1], block, ROOM) > 0)
            ;
    }
    fcntl(ends[5][0], F_SETFL, 0);
    fcntl(ends[5][1], F_SETFL, 0);
    counter = eventfd(0, EFD_NONBLOCK);
    eventfd_write(counter, UINT64_MAX - 1);
    set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, ends[4][1], &(struct epoll_event){.events = EPOLLOUT});
    queue = mq_open("/maxrace-full-safe", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attributes);
    mq_unlink("/maxrace-full-safe");
    mq_send(queue, "a", 1, 0);
    pthread_create(&first, NULL, put, NULL);
    pthread_create(&second, NULL, take, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
