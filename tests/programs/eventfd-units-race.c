/* An eventfd that is a semaphore has two units, so two threads are in at a time. Predicted from every order. */
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int units, shared;

static void *work(void *unused)
{
    uint64_t taken;
    read(units, &taken, sizeof taken);
    shared++;
    eventfd_write(units, 1);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    units = eventfd(2, EFD_SEMAPHORE);
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
