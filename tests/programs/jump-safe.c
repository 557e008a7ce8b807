/* No race: with a lock. */
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void deep(jmp_buf back, int depth)
{
    if (depth == 0) {
        x++;
        longjmp(back, 1);
    }
    deep(back, depth - 1);
}

static void *work(void *unused)
{
    jmp_buf back;
    for (volatile int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        if (setjmp(back) == 0) {
            deep(back, 5);
        }
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_mutex_destroy(&lock);
    return 0;
}
