/* Race on x: the second thread writes after it has given back the lock, whose word the kernel changes. Predicted from every order. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t word;
int x; /* not static: compilers take it that a function of the C library changes nothing of that */

static void lock(void)
{
    syscall(SYS_gettid); /* a replay tells it the number that is in the word */
    while (syscall(SYS_futex, &word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0) != 0) {
    }
}

static void unlock(void)
{
    syscall(SYS_futex, &word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
}

static void *one(void *unused)
{
    x++;
    lock();
    unlock();
    return unused;
}

static void *two(void *unused)
{
    lock();
    unlock();
    x++;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
