/* Race on x: two threads wake a third one by an eventfd, then by a pipe, with the same byte. They are in no order by that.
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

static void *three(void *unused)
{
    uint64_t count;
    char bytes[8];
    for (unsigned all = 0; all < 2 && read(counter, &count, sizeof count) == sizeof count;) {
        all += count;
    }
    for (int all = 0; all < 2;) {
        all += read(ends[0], bytes, sizeof bytes);
    }
    return unused;
}

int main(void)
{
    void *(*const work[])(void *) = {one, two, three};
    pthread_t threads[3];
    counter = eventfd(0, 0);
    if (pipe(ends) != 0) {
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, work[i], NULL);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
