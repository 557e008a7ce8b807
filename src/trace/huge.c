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
    size_t past = (uintptr_t)memory % (size_t)page, skip = past ? (size_t)page - past : 0;
    (void)madvise((char *)memory + skip, (bytes - skip) / (size_t)page * (size_t)page,
                  MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}
