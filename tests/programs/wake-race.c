/* Race on x: two threads wake the main thread by an eventfd, then by a pipe, with the same byte. They are in no order by that.
 * Predicted from every order. */
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int counter, ends[2];
static int x;

static void wake(void)
{
    const uint64_t more = 1;
    if (write(counter, &more, sizeof more) != sizeof more || write(ends[1], "", 1) != 1) {
        _exit(1);
    }
}

static void *one(void *unused)
{
    x = 1;
    wake();
    return unused;
}

static void *two(void *unused)
{
    usleep(1000);
    wake();
    x = 2;
    return unused;
}

/* Takes all wake-ups. */
static int is_awake(void)
{
    uint64_t count;
    char bytes[8];
    return read(counter, &count, sizeof count) == sizeof count && count == 2 &&
           read(ends[0], bytes, sizeof bytes) == 2;
}

int main(void)
{
    void *(*const work[])(void *) = {one, two};
    pthread_t threads[2];
    counter = eventfd(0, 0);
    if (pipe(ends) != 0) {
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work[i], NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return is_awake() ? 0 : 1;
}
