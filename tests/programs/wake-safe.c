/* No race: who reads an eventfd or a pipe comes after all that woke it. Who writes another byte to the pipe than those before
 * comes after them, because it is read after theirs. */
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int counter, ends[2];
static int x[2], y;

static void send(char byte)
{
    if (write(ends[1], &byte, 1) != 1) {
        _exit(1);
    }
}

static void wake(int *its)
{
    const uint64_t more = 1;
    *its = 1;
    send('a');
    if (write(counter, &more, sizeof more) != sizeof more) {
        _exit(1);
    }
}

static void *one(void *unused)
{
    wake(&x[0]);
    return unused;
}

static void *two(void *unused)
{
    wake(&x[1]);
    return unused;
}

static void *three(void *unused)
{
    uint64_t count;
    for (unsigned all = 0; all < 2 && read(counter, &count, sizeof count) == sizeof count;) {
        all += count;
    }
    x[0]++;
    x[1]++;
    y = 1;
    send('b');
    return unused;
}

static void *four(void *unused)
{
    char byte;
    for (int all = 0; all < 3; all++) {
        if (read(ends[0], &byte, 1) != 1 || (all == 2) != (byte == 'b')) {
            _exit(1);
        }
    }
    y++;
    return unused;
}

int main(void)
{
    void *(*const work[])(void *) = {one, two, three, four};
    pthread_t threads[4];
    counter = eventfd(0, EFD_SEMAPHORE);
    if (pipe(ends) != 0) {
        return 1;
    }
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, work[i], NULL);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
