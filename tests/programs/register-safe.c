/* A function without a frame pointer is entered while that register has a value which is almost 0 as an address:
 * nothing is read there. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;

/* The parameters are kept in registers over the calls that record. */
__attribute__((noinline, optimize("O1,omit-frame-pointer"))) static long
add(long *to, long one, long two, long three, long four)
{
    pthread_mutex_lock(&lock);
    *to += one + two + three + four;
    pthread_mutex_unlock(&lock);
    return one - two;
}

static void *work(void *unused)
{
    add(&sum, -8, -8, -8, -8);
    add(&sum, -16, -16, -16, -16);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    return sum == -2 * 4 * (8 + 16) ? 0 : 1;
}
