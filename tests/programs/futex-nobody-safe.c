/* A lock of the kernel whose word names a thread that has ended cannot be waited for: ESRCH, and no deadlock. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t word;

static void *work(void *unused)
{
    __atomic_store_n(&word, (uint32_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    long status = syscall(SYS_futex, &word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
    return status != -1 || errno != ESRCH;
}
