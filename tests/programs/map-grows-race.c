/* A race: a thread writes the last page of a mapping, and another one makes the mapping shorter. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 4 };

static long *words;

static void *use(void *unused)
{
    words[2 * PAGE / sizeof *words] = 1; /* RACE */
    return unused;
}

int main(void)
{
    pthread_t other;
    words = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED)
        return 2;
    pthread_create(&other, NULL, use, NULL);
    usleep(100000);
    if (mremap(words, PAGES * PAGE, PAGE, 0) != words) /* RACE */
        return 2;
    pthread_join(other, NULL);
    return munmap(words, PAGE);
}
