/* Race on buffer: a thread reads into it by a call of the kernel, and another one writes it. Predicted from every order. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static char buffer[4];

static void *fill(void *unused)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/zero", O_RDONLY, 0);
    return syscall(SYS_read, fd, buffer, sizeof buffer) == sizeof buffer ? unused : NULL;
}

int main(void)
{
    pthread_t thread;
    void *status = NULL;
    pthread_create(&thread, NULL, fill, &thread);
    buffer[1] = 1;
    pthread_join(thread, &status);
    return status != &thread;
}
