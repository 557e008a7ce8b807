/* No race: who finds that nobody wants a connection (accept, poll, epoll_wait) or that nobody listens (connect) writes in a section of
 * `lock`; the other thread asks for one, or listens, in its own section, and writes after it. Who connects comes after who listens. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int early, late, set;
static struct sockaddr_in early_at, late_at;
static int by_accept, by_poll, by_epoll, by_refusal, by_listen;

static int bound(struct sockaddr_in *at)
{
    socklen_t bytes = sizeof *at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    at->sin_family = AF_INET;
    at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(fd, (struct sockaddr *)at, bytes);
    getsockname(fd, (struct sockaddr *)at, &bytes);
    return fd;
}

static int reach(const struct sockaddr_in *at)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int status = connect(fd, (const struct sockaddr *)at, sizeof *at);
    close(fd);
    return status;
}

static void *look(void *unused)
{
    struct pollfd wanted = {.fd = early, .events = POLLIN};
    struct epoll_event event;
    pthread_mutex_lock(&lock);
    if (accept(early, NULL, NULL) < 0)
        by_accept = 1;
    if (poll(&wanted, 1, 0) == 0)
        by_poll = 1;
    if (epoll_wait(set, &event, 1, 0) == 0)
        by_epoll = 1;
    if (reach(&late_at) < 0)
        by_refusal = 1;
    pthread_mutex_unlock(&lock);
    while (reach(&late_at) < 0)
        usleep(100);
    by_listen = 1;
    return unused;
}

static void *act(void *unused)
{
    usleep(1000);
    by_listen = 2;
    pthread_mutex_lock(&lock);
    reach(&early_at);
    listen(late, 9);
    pthread_mutex_unlock(&lock);
    by_accept = by_poll = by_epoll = by_refusal = 2;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    struct epoll_event event = {.events = EPOLLIN};
    early = bound(&early_at);
    late = bound(&late_at);
    listen(early, 9);
    set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, early, &event);
    pthread_create(&first, NULL, look, NULL);
    pthread_create(&second, NULL, act, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
