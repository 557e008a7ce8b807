/* No race: a mapping gets longer and shorter where it is, by mremap, while another thread uses the page that it keeps. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 4, ROUNDS = 20 };

static long *words;

static void *use(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        words[i]++;
    return unused;
}

int main(void)
{
    pthread_t other;
    words = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED || munmap((char *)words + PAGE, (PAGES - 1) * PAGE) != 0)
        return 2;
    pthread_create(&other, NULL, use, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        if (mremap(words, PAGE, PAGES * PAGE, 0) != words)
            return 2;
        words[2 * PAGE / sizeof *words] = i;
        if (mremap(words, PAGES * PAGE, PAGE, 0) != words)
            return 2;
    }
    pthread_join(other, NULL);
    return munmap(words, PAGE);
}
