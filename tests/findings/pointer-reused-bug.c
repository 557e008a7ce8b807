/* dangling: the reader unmaps what the pointer points to, and reads it again. The run goes well, because another
 * thread has mapped memory inside of the old one in between. Also without --record-local. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { BYTES = 4096, YIELDS = 6 };

static int *shared;
static atomic_int is_there, is_gone;

/* Of so many pages; the last one is at the same address. */
static int *map(int pages)
{
    char *last = (char *)0x200000000000;
    void *all = mmap(last - (pages - 1) * BYTES, (size_t)pages * BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return all == MAP_FAILED ? NULL : (int *)last;
}

static int read_shared(void)
{
    return *shared;
}

static void *read_twice(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_there)) {
        sched_yield();
    }
    int sum = read_shared();
    munmap((char *)0x200000000000 - BYTES, 2 * BYTES);
    atomic_store(&is_gone, 1);
    for (int i = 0; i < YIELDS; i++) {
        sched_yield();
    }
    sum += read_shared();
    return sum == 1 ? NULL : unused;
}

static void *map_again(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_gone)) {
        sched_yield();
    }
    map(1);
    return NULL;
}

int main(void)
{
    pthread_t reader, mapper;
    if (pthread_create(&reader, NULL, read_twice, NULL) ||
        pthread_create(&mapper, NULL, map_again, NULL)) {
        return 1;
    }
    shared = map(2);
    *shared = 1;
    atomic_store(&is_there, 1);
    pthread_join(reader, NULL);
    pthread_join(mapper, NULL);
    return 0;
}
