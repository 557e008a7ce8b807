/* Race on x: written after the flag. Predicted from every order. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int done;
static int x;

static void *one(void *unused)
{
    done = 1;
    x = 1;
    return unused;
}

static void *two(void *unused)
{
    while (!atomic_load_explicit(&done, memory_order_acquire)) {
    }
    x = 2;
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
