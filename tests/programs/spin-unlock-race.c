/* Race on word: a lock of the program's own, which is released by a plain write. Predicted from every order. */
#include <pthread.h>
#include <sched.h>

static long word;
static int x;

static void take(void)
{
    while (__atomic_load_n(&word, __ATOMIC_RELAXED) != 0 ||
           !__sync_bool_compare_and_swap(&word, 0, 1)) {
        sched_yield();
    }
}

static void *work(void *unused)
{
    take();
    x++;
    word = 0;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return x - 2;
}
