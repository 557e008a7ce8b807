/* No race: two threads signal an eventfd, and the third one reads both signals, after waits that need only one; or takes one of
 * each by EFD_SEMAPHORE. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

enum { WAITS = 3 };

static int counters[WAITS], set;
static int a[WAITS], b[WAITS];

static void signal_all(int *its)
{
    const uint64_t more = 1;
    for (int i = 0; i < WAITS; i++) {
        its[i] = 1;
        if (write(counters[i], &more, sizeof more) != sizeof more) {
            return;
        }
    }
}

static void *one(void *unused)
{
    signal_all(a);
    return unused;
}

static void *two(void *unused)
{
    signal_all(b);
    return unused;
}

static void wait_for(int i)
{
    struct epoll_event found;
    struct pollfd asked = {.fd = counters[i], .events = POLLIN};
    static fd_set reads; /* of a local one clang reports no write by FD_SET */
    if (i == 0) {
        poll(&asked, 1, -1);
    } else if (i == 1) {
        FD_SET(counters[i], &reads);
        select(counters[i] + 1, &reads, NULL, NULL, NULL);
    } else {
        epoll_wait(set, &found, 1, -1);
    }
}

static void *three(void *unused)
{
    for (int i = 0; i < WAITS; i++) {
        uint64_t count, all = 0;
        while (all < 2) {
            wait_for(i);
            if (read(counters[i], &count, sizeof count) == sizeof count) {
                all += count;
            }
        }
        a[i]++;
        b[i]++;
    }
    return unused;
}

int main(void)
{
    void *(*const work[])(void *) = {one, two, three};
    pthread_t threads[3];
    for (int i = 0; i < WAITS; i++) {
        counters[i] = eventfd(0, i == 1 ? EFD_SEMAPHORE : 0);
    }
    struct epoll_event wanted = {.events = EPOLLIN};
    set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, counters[2], &wanted);
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, work[i], NULL);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
