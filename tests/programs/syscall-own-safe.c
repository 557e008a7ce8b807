/* Functions of its own by the names of libc's, which ask the kernel: the runtime does not come back into them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static int x, ends[2];

pid_t gettid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

ssize_t read(int fd, void *to, size_t bytes)
{
    return syscall(SYS_read, fd, to, bytes);
}

static void *receive(void *unused)
{
    char got;
    if (read(ends[0], &got, 1) == 1) {
        x++;
    }
    return gettid() != getpid() ? unused : NULL;
}

int main(void)
{
    pthread_t thread;
    void *status = NULL;
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&thread, NULL, receive, &x);
    x++;
    if (write(ends[1], "a", 1) != 1) {
        return 1;
    }
    pthread_join(thread, &status);
    return gettid() != getpid() || status != &x || x != 2;
}
