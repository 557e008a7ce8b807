/* Race on x, y and z: a thread wakes another one twice, by a pipe and by a pair of sockets. Both wake-ups are there when the
 * other one looks. One is enough for it to go on, so it may go on before the second. Predicted. */
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2], pair[2], shared[2];
static int x, y, z;

static void *wake(void *unused)
{
    if (write(ends[1], "", 1) != 1 || write(pair[1], "", 1) != 1) {
        _exit(1);
    }
    x = 1;
    y = 1;
    if (write(ends[1], "", 1) != 1 || write(pair[1], "", 1) != 1) {
        _exit(1);
    }
    return unused;
}

/* Which of the two threads wakes the main thread first may be another one in another run. */
static void *wake_too(void *its)
{
    usleep(its == NULL ? 0 : 1000);
    if (its == NULL) {
        z = 1;
    }
    if (write(shared[1], "", 1) != 1) {
        _exit(1);
    }
    return its;
}

/* Waits for the descriptor, and takes one wake-up. */
static void take(int fd)
{
    struct pollfd asked = {.fd = fd, .events = POLLIN};
    char byte;
    if (poll(&asked, 1, -1) != 1 || read(fd, &byte, 1) != 1) {
        _exit(1);
    }
}

int main(void)
{
    pthread_t threads[3];
    if (pipe(ends) != 0 || pipe(shared) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 1;
    }
    pthread_create(&threads[0], NULL, wake, NULL);
    pthread_create(&threads[1], NULL, wake_too, NULL);
    pthread_create(&threads[2], NULL, wake_too, &z);
    sleep(1);
    take(ends[0]);
    x = 2;
    take(pair[0]);
    y = 2;
    take(shared[0]);
    z = 2;
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
