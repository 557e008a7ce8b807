/* Race on three descriptors: written to by one thread, and closed by another after the end that is read. Predicted from every order. */
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2], other[2], pair[2];

static void *writer(void *unused)
{
    if (write(ends[1], "x", 1) < 0 || write(other[1], "x", 1) < 0 || send(pair[1], "x", 1, 0) < 0) {
        return NULL;
    }
    return unused;
}

static void *closer(void *unused)
{
    usleep(1000);
    close(ends[0]);
    close(other[0]);
    close(pair[0]);
    close(ends[1]);
    close(other[1]);
    close(pair[1]);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends) != 0 || pipe(other) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 1;
    }
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&two, NULL, closer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
