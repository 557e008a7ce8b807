/* No race: who writes closes its end, and the other reads to the end before it closes; a write that finds nobody to read comes after the close. */
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2], pair[2], broken[2];
static int x, y, z;

static void *writer(void *unused)
{
    x = 1;
    y = 1;
    if (write(ends[1], "ab", 2) < 0 || send(pair[1], "ab", 2, 0) < 0) {
        return NULL;
    }
    close(ends[1]);
    close(pair[1]);
    while (write(broken[1], "", 1) == 1) {
    }
    z++;
    return unused;
}

static void *closer(void *unused)
{
    char byte;
    while (read(ends[0], &byte, 1) == 1) {
    }
    x++;
    while (recv(pair[0], &byte, 1, 0) == 1) {
    }
    y++;
    close(ends[0]);
    close(pair[0]);
    z = 1;
    close(broken[0]);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends) != 0 || pipe(broken) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 1;
    }
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&two, NULL, closer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
