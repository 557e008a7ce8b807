/* Two mappings lie side by side, as an allocator gets them that takes them for one piece of memory: what is written over the end of
 * the first one is at the begin of the second one, where the other thread writes. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static char *memory;

static void *write_over(void *unused)
{
    memset(memory + PAGE - 100, 1, 200);
    return unused;
}

static void *write_second(void *unused)
{
    memory[PAGE + 50] = 2;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mmap(memory + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        return 2;
    pthread_create(&first, NULL, write_over, NULL);
    pthread_create(&second, NULL, write_second, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
