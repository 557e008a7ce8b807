/* No race: who takes a second wake-up comes after the second of those who woke it, whichever, and who takes all that is
 * there after all. What is written to one end of a pair of sockets is read from the other. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2], pair[2];
static int x, y, z;

static void send_to(int fd)
{
    if (write(fd, "", 1) != 1) {
        _exit(1);
    }
}

static int take(int fd, int most)
{
    struct pollfd asked = {.fd = fd, .events = POLLIN};
    char bytes[8];
    if (poll(&asked, 1, -1) != 1) {
        _exit(1);
    }
    return (int)read(fd, bytes, (size_t)most);
}

static void *wake(void *unused)
{
    x = 1;
    send_to(ends[1]);
    y = 1;
    send_to(ends[1]);
    send_to(pair[1]);
    return unused;
}

static void *wake_too(void *unused)
{
    z = 1;
    send_to(pair[1]);
    take(pair[1], 1);
    z++;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        abort();
    }
    pthread_create(&threads[0], NULL, wake, NULL);
    pthread_create(&threads[1], NULL, wake_too, NULL);
    sleep(1);
    take(ends[0], 1);
    x++;
    take(ends[0], 1);
    y++;
    for (int all = 0; all < 2;) {
        all += take(pair[0], 8);
    }
    z++;
    send_to(pair[0]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
