/* No race: who gets bytes may change what they were written from. Bytes that splice and tee move, that vmsplice gives, or that FIONREAD and
 * epoll_pwait2 tell of come from the thread that wrote them; who is told that there are none writes before the next write. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int whole[2], moved[2], seen[2], given[2], asked[2], waited[2], none[2], to[2], set;
static char parts[2][4], one[4];
static int by_splice, by_tee, by_gift, by_count, by_wait, by_none;

static void *send_all(void *unused)
{
    struct iovec both[2] = {{parts[0], 4}, {parts[1], 4}}, gift = {one, 4};
    writev(whole[1], both, 2);
    by_splice = 1;
    write(moved[1], "abcd", 4);
    by_tee = 1;
    write(seen[1], "abcd", 4);
    by_gift = 1;
    vmsplice(given[1], &gift, 1, 0);
    by_count = 1;
    write(asked[1], "a", 1);
    by_wait = 1;
    write(waited[1], "a", 1);
    usleep(1000);
    pthread_mutex_lock(&lock);
    write(none[1], "a", 1);
    pthread_mutex_unlock(&lock);
    by_none = 1;
    return unused;
}

static void *receive_all(void *unused)
{
    char bytes[8];
    int count = 0;
    struct epoll_event event;
    struct timespec limit = {60, 0};
    pthread_mutex_lock(&lock);
    ioctl(none[0], FIONREAD, &count);
    if (count == 0)
        by_none = 2;
    pthread_mutex_unlock(&lock);
    if (read(whole[0], bytes, 8) == 8)
        parts[1][3] = 'x';
    splice(moved[0], NULL, to[1], NULL, 4, 0);
    by_splice = 2;
    tee(seen[0], to[1], 4, 0);
    by_tee = 2;
    read(given[0], bytes, 4);
    by_gift = 2;
    do
        ioctl(asked[0], FIONREAD, &count);
    while (count == 0);
    by_count = 2;
    epoll_pwait2(set, &event, 1, &limit, NULL);
    by_wait = 2;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    struct epoll_event event = {.events = EPOLLIN};
    pipe(whole);
    pipe(moved);
    pipe(seen);
    pipe(given);
    pipe(asked);
    pipe(waited);
    pipe(none);
    pipe(to);
    set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, waited[0], &event);
    pthread_create(&first, NULL, send_all, NULL);
    pthread_create(&second, NULL, receive_all, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
