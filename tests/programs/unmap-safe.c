/* No race: one page of the mapping is unmapped while the other thread uses those around it; the
 * mapping grows and moves when it has ended. */
#define _GNU_SOURCE /* mremap */
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static void *work(void *argument)
{
    char *memory = argument;
    memory[5] = 1;
    memory[2 * PAGE + 5] = 1;
    return NULL;
}

int main(void)
{
    pthread_t other;
    char *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return 1;
    }
    memory[PAGE + 5] = 2;
    pthread_create(&other, NULL, work, memory);
    munmap(memory + PAGE, PAGE);
    pthread_join(other, NULL);
    char *moved = mremap(memory, PAGE, 4 * PAGE, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) {
        return 1;
    }
    char value = moved[5];
    munmap(moved, 4 * PAGE);
    return value - 1;
}
