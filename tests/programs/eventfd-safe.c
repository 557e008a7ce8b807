/* No race: x is written before eventfd_write, and again after eventfd_read. */
#include <pthread.h>
#include <sys/eventfd.h>

static int counter;
static int x;

static void *one(void *unused)
{
    x = 1;
    eventfd_write(counter, 1);
    return unused;
}

static void *two(void *unused)
{
    eventfd_t count;
    if (eventfd_read(counter, &count) == 0) {
        x++;
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    counter = eventfd(0, 0);
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
