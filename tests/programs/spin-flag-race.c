/* Race on done, a plain flag that is waited for. Predicted from every order. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static int data;
static volatile int done;

static void *one(void *unused)
{
    data = 7;
    done = 1;
    return unused;
}

static void *two(void *unused)
{
    while (!done) {
        sched_yield();
    }
    data++;
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
