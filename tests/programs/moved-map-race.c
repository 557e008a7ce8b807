/* A file is mapped, the mapping is moved as it grows, and the file is mapped again: the threads write the same bytes by different
 * addresses. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char *first, *second;

static void *write_first(void *unused)
{
    first[PAGE + 2] = 1;
    return unused;
}

static void *write_second(void *unused)
{
    second[2] = 2;
    return unused;
}

int main(void)
{
    pthread_t one, other;
    int file = memfd_create("moved", 0);
    ftruncate(file, 2 * PAGE);
    first = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    first = mremap(first, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
    second = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, PAGE);
    pthread_create(&one, NULL, write_first, NULL);
    pthread_create(&other, NULL, write_second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
