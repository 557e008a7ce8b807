/* A file is mapped twice in a row, as a ring buffer: what is written over the end of the first mapping is at its begin, where the other
 * thread writes. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char *ring;

static void *write_over(void *unused)
{
    memset(ring + PAGE - 6, 1, 10);
    return unused;
}

static void *write_begin(void *unused)
{
    ring[2] = 2;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    int file = memfd_create("ring", 0);
    ftruncate(file, PAGE);
    ring = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mmap(ring, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    mmap(ring + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    pthread_create(&first, NULL, write_over, NULL);
    pthread_create(&second, NULL, write_begin, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
