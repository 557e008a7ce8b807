/* Asynchronous cancellation ends a thread that waits in a call of the kernel, and the join orders its write of x. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static int x, ends[2];

static void *receive(void *unused)
{
    char got;
    x++;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    syscall(SYS_read, ends[0], &got, 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    void *status = NULL;
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&thread, NULL, receive, NULL);
    usleep(1000);
    pthread_cancel(thread);
    pthread_join(thread, &status);
    x++;
    return status != PTHREAD_CANCELED;
}
