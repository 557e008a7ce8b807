/* Race on x, y and z: written after the descriptor got ready. Predicted from every order. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

static int counter, set, polled[2], selected[2];
static int x, y, z;

static void *one(void *unused)
{
    uint64_t more = 1;
    if (write(counter, &more, sizeof more) != sizeof more || write(polled[1], "a", 1) != 1 ||
        write(selected[1], "a", 1) != 1) {
        return NULL;
    }
    x = 1;
    y = 1;
    z = 1;
    return unused;
}

/* Nobody reads what is there: that it is there is all that is asked. */
static void *two(void *unused)
{
    struct epoll_event found;
    struct pollfd asked = {.fd = polled[0], .events = POLLIN};
    static fd_set reads; /* of a local one clang reports no write by FD_SET */
    FD_SET(selected[0], &reads);
    if (epoll_wait(set, &found, 1, -1) == 1) {
        x++;
    }
    if (poll(&asked, 1, -1) == 1) {
        y++;
    }
    if (select(selected[0] + 1, &reads, NULL, NULL, NULL) == 1) {
        z++;
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLET, .data = {.ptr = &x}};
    counter = eventfd(0, 0);
    set = epoll_create1(0);
    if (pipe(polled) != 0 || pipe(selected) != 0 ||
        epoll_ctl(set, EPOLL_CTL_ADD, counter, &wanted) != 0) {
        return 1;
    }
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
