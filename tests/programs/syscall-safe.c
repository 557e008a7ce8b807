/* What threads send each other by calls of the kernel orders them, as the functions do: x and what was sent are touched by one
 * thread at a time. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int x, ends[2], sockets[2];
static char word[4] = "abc", got[4];

static void *receive(void *unused)
{
    struct iovec part = {got, sizeof got};
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    if (syscall(SYS_ppoll, &one, 1, NULL, NULL, 8) != 1 ||
        syscall(SYS_read, ends[0], got, 1) != 1) {
        return NULL;
    }
    x++;
    got[0]++;
    if (syscall(SYS_sendto, sockets[0], got, 1, 0, NULL, 0) != 1 ||
        syscall(SYS_readv, ends[0], &part, 1) != 2) {
        return NULL;
    }
    x++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    char answer;
    void *status = NULL;
    struct iovec part = {word + 1, 2};
    if (syscall(SYS_pipe2, ends, 0) != 0 ||
        syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, sockets) != 0) {
        return 1;
    }
    pthread_create(&thread, NULL, receive, &x);
    x++;
    word[0] = 'd';
    syscall(SYS_write, ends[1], word, 1);
    syscall(SYS_recvfrom, sockets[1], &answer, 1, 0, NULL, NULL);
    word[0]++;
    x++;
    syscall(SYS_writev, ends[1], &part, 1);
    pthread_join(thread, &status);
    syscall(SYS_close, ends[1]);
    return syscall(SYS_read, ends[0], got, 1) != 0 || syscall(SYS_read, ends[1], got, 1) != -1 ||
           answer != 'e' || status != &x || x != 4;
}
