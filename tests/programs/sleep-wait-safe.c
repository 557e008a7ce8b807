/* No race on data: each wait finds what another thread of the program does after a while, and a wait without descriptors is a sleep.
 * When a thread goes on does not depend on the kernel. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

enum { WAYS = 6 };

static int ends[WAYS][2], data[WAYS], sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *write_each(void *unused)
{
    for (int way = 0; way < WAYS; way++) {
        data[way] = way;
        usleep(3000);
        (void)!write(ends[way][1], "x", 1);
    }
    return unused;
}

static void *count(void *unused)
{
    for (int i = 0; i < 20; i++) {
        struct timeval some = {0, 700};
        pthread_mutex_lock(&lock);
        sum++;
        pthread_mutex_unlock(&lock);
        if (i % 2 == 0) {
            select(0, NULL, NULL, NULL, &some);
        } else {
            poll(NULL, 0, 1);
        }
    }
    return unused;
}

static void await(int way, int fd)
{
    struct timespec second = {1, 0};
    struct pollfd one = {fd, POLLIN, 0};
    struct epoll_event wanted;
    fd_set set;
    memset(&wanted, 0, sizeof wanted);
    wanted.events = EPOLLIN;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    if (way == 0) {
        select(fd + 1, &set, NULL, NULL, NULL);
    } else if (way == 1) {
        pselect(fd + 1, &set, NULL, NULL, &second, NULL);
    } else if (way == 2) {
        poll(&one, 1, 1000);
    } else if (way == 3) {
        ppoll(&one, 1, NULL, NULL);
    } else if (way == 4) {
        while (poll(&one, 1, 1) == 0) {
            pthread_mutex_lock(&lock);
            sum++;
            pthread_mutex_unlock(&lock);
        }
    } else if (way == 5) {
        int waiter = epoll_create1(0);
        epoll_ctl(waiter, EPOLL_CTL_ADD, fd, &wanted);
        epoll_wait(waiter, &wanted, 1, -1);
        close(waiter);
    }
}

int main(void)
{
    pthread_t first, second;
    char byte;
    for (int way = 0; way < WAYS; way++) {
        (void)!pipe(ends[way]);
    }
    pthread_create(&first, NULL, write_each, NULL);
    pthread_create(&second, NULL, count, NULL);
    for (int way = 0; way < WAYS; way++) {
        await(way, ends[way][0]);
        (void)!read(ends[way][0], &byte, 1);
        pthread_mutex_lock(&lock);
        sum += data[way];
        pthread_mutex_unlock(&lock);
    }
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
