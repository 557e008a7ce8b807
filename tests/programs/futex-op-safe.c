/* No race: FUTEX_WAKE_OP writes the word that tells the other thread, which sleeps on it. A wake of a negative number is one of 1. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t first, second;
int x; /* not static: compilers take it that a function of the C library changes nothing of that */

static void *work(void *unused)
{
    while (__atomic_load_n(&second, __ATOMIC_ACQUIRE) == 0) {
        syscall(SYS_futex, &second, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
    x++;
    while (__atomic_load_n(&first, __ATOMIC_ACQUIRE) == 0) {
        syscall(SYS_futex, &first, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    x = 1;
    syscall(SYS_futex, &first, FUTEX_WAKE_OP_PRIVATE, 1, 1L, &second,
            FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
    __atomic_store_n(&first, 1, __ATOMIC_RELEASE);
    if (syscall(SYS_futex, &first, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 0) >= 0 ||
        errno != EINVAL) {
        return 1;
    }
    syscall(SYS_futex, &first, FUTEX_WAKE_PRIVATE, -1, NULL, NULL, 0);
    pthread_join(other, NULL);
    return x != 2;
}
