#define _DEFAULT_SOURCE /* madvise */
#include "huge.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MR_HUGE_LEAST_BYTES = 1 << 22 };

void mr_huge_ask(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    long page = sysconf(_SC_PAGESIZE);
    if (bytes < MR_HUGE_LEAST_BYTES || page <= 0)
        return;
    uintptr_t size = (uintptr_t)page, start = (uintptr_t)memory;
    uintptr_t first = (start + size - 1) / size * size, end = (start + bytes) / size * size;
    (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}
