/* No race: written before. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static int broken[2], unread[2], left[2], other_side[2], own_side[2], replaced[2], listening;
static int t, u, v, w, x, y, z;

static void *one(void *unused)
{
    int null = open("/dev/null", O_RDWR);
    t = 1;
    close(broken[0]);
    u = 1;
    write(unread[1], "x", 1);
    v = 1;
    close(left[0]);
    w = 1;
    shutdown(other_side[1], SHUT_WR);
    x = 1;
    shutdown(own_side[0], SHUT_RD);
    y = 1;
    dup2(null, replaced[1]);
    z = 1;
    shutdown(listening, SHUT_RDWR);
    return unused;
}

/* Each call tells that the first thread has done something. */
static void *two(void *unused)
{
    char byte;
    struct pollfd reads = {.fd = unread[0], .events = POLLIN}, writes = {.fd = left[1]};
    while (write(broken[1], "", 1) == 1) {
    }
    t++;
    if (poll(&reads, 1, -1) == 1) {
        u++;
    }
    if (poll(&writes, 1, -1) == 1) {
        v++;
    }
    if (read(other_side[0], &byte, 1) == 0) {
        w++;
    }
    if (read(own_side[0], &byte, 1) == 0) {
        x++;
    }
    if (read(replaced[0], &byte, 1) == 0) {
        y++;
    }
    if (accept(listening, NULL, NULL) < 0) {
        z++;
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    struct sockaddr_in any = {.sin_family = AF_INET};
    signal(SIGPIPE, SIG_IGN);
    listening = socket(AF_INET, SOCK_STREAM, 0);
    if (pipe(broken) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, unread) != 0 || pipe(left) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, other_side) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, own_side) != 0 || pipe(replaced) != 0 ||
        bind(listening, (struct sockaddr *)&any, sizeof any) != 0 || listen(listening, 5) != 0) {
        return 1;
    }
    pthread_create(&second, NULL, two, NULL);
    pthread_create(&first, NULL, one, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
