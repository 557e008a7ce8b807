/* Race on x, which is written after FUTEX_WAKE_OP has told the other thread. Predicted from every order. */
#define _GNU_SOURCE
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
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    syscall(SYS_futex, &first, FUTEX_WAKE_OP_PRIVATE, 1, 1L, &second,
            FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
    x = 1;
    pthread_join(other, NULL);
    return 0;
}
