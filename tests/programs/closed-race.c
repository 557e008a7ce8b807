/* Race on x, y and z: written after the other end was closed. Predicted from every order. */
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int read_end[2], polled[2], pair[2];
static int x, y, z;

static void *one(void *unused)
{
    close(read_end[1]);
    close(polled[1]);
    close(pair[1]);
    x = 1;
    y = 1;
    z = 1;
    return unused;
}

/* Nothing is ever written: each wait ends because the other end is closed. */
static void *two(void *unused)
{
    char byte;
    struct pollfd asked = {.fd = polled[0], .events = POLLIN};
    if (read(read_end[0], &byte, 1) == 0) {
        x++;
    }
    if (poll(&asked, 1, -1) == 1) {
        y++;
    }
    if (read(pair[0], &byte, 1) == 0) {
        z++;
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    if (pipe(read_end) != 0 || pipe(polled) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 1;
    }
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
