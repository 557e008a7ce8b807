/* Race on a page in the middle of a mapping: main unmaps it while the other thread may write it.
 * Predicted from every order: main sleeps, so the write comes first, and nothing else says so. */
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void *work(void *argument)
{
    char *memory = argument;
    memory[PAGE + 5] = 1;
    memory[5] = 1;
    return NULL;
}

int main(void)
{
    pthread_t other;
    char *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return 1;
    }
    pthread_create(&other, NULL, work, memory);
    usleep(100000);
    munmap(memory + PAGE, PAGE);
    pthread_join(other, NULL);
    return 0;
}
